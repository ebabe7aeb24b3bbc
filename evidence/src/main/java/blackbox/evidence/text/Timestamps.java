package blackbox.evidence.text;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// Times as people write them: RFC 3339, in UTC, with nanoseconds.
public final class Timestamps {

    private static final long NS = 1_000_000_000L;
    private static final DateTimeFormatter FORM =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'").withZone(ZoneOffset.UTC);

    private Timestamps() {}

    /// `atNs` nanoseconds since the epoch as RFC 3339.
    public static String format(long atNs) {
        return format(Instant.ofEpochSecond(Math.floorDiv(atNs, NS), Math.floorMod(atNs, NS)));
    }

    /// `instant` as RFC 3339.
    public static String format(Instant instant) {
        return FORM.format(instant);
    }

    /// Nanoseconds since the epoch of an RFC 3339 time.
    ///
    /// @throws DateTimeException when it is not one
    /// @throws ArithmeticException when it is outside the years that nanoseconds can express (1677 to 2262)
    public static long parse(String text) {
        return nanos(OffsetDateTime.parse(text).toInstant());
    }

    /// Nanoseconds since the epoch.
    ///
    /// @throws ArithmeticException as [#parse]
    public static long nanos(Instant instant) {
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), NS), instant.getNano());
    }
}
