package blackbox.cli;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// Times as the contract wants them: RFC 3339, UTC, nanoseconds.
public final class Timestamps {

    private static final DateTimeFormatter FORM =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.nnnnnnnnn'Z'").withZone(ZoneOffset.UTC);

    private Timestamps() {}

    /// `2026-11-21T23:59:59.000000001Z`.
    public static String text(Instant instant) {
        return FORM.format(instant);
    }
}
