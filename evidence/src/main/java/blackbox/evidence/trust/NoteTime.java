package blackbox.evidence.trust;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Times in notes: RFC 3339 in UTC with exactly nine digits of the second, so that a time has one spelling.
final class NoteTime {

    private static final DateTimeFormatter FORM = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /// The last moment that has four digits for its year.
    private static final Instant MAX = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private NoteTime() {}

    /// Refuses times that the format cannot express.
    static Instant require(Instant time) {
        if (time.isBefore(Instant.EPOCH) || time.isAfter(MAX)) {
            throw new IllegalArgumentException("a note's time lies between 1970 and 9999, not at " + time);
        }
        return time;
    }

    static String text(Instant time) {
        return FORM.format(time);
    }

    /// Null if the text is not exactly what [#text] writes.
    static @Nullable Instant parse(String text) {
        try {
            Instant time = FORM.parse(text, Instant::from);
            return text(time).equals(text) && !time.isBefore(Instant.EPOCH) ? time : null;
        } catch (DateTimeException e) {
            return null;
        }
    }
}
