package blackbox.replay.divergence.cause;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A time that a text contains: seconds, milliseconds, microseconds or nanoseconds since 1970, or a date in UTC,
/// as in `2026-11-24T09:00:05`, `20261124-090005` or `2026-11-24`.
final class WrittenTime {
    private static final Pattern NUMBER = Pattern.compile("(?<!\\d)\\d{10,19}(?!\\d)");
    private static final Pattern DATE = Pattern.compile(
            "(?<!\\d)(\\d{4})-?(\\d{2})-?(\\d{2})(?:[T _.-]?(\\d{2})[:.-]?(\\d{2})(?:[:.-]?(\\d{2}))?)?(?!\\d)");
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long MINUTE_NS = 60 * SECOND_NS;
    private static final long DAY_NS = 24 * 60 * MINUTE_NS;

    private WrittenTime() {}

    /// The first time in a text that lies between two, as it is written there; null if there is none.
    static @Nullable String in(String text, long fromNs, long toNs) {
        for (Matcher found = NUMBER.matcher(text); found.find(); ) {
            long unit = unit(found.group().length());
            if (unit > 0 && overlaps(Long.parseLong(found.group()) * unit, unit, fromNs, toNs)) {
                return found.group();
            }
        }
        for (Matcher found = DATE.matcher(text); found.find(); ) {
            long unit = found.group(4) == null ? DAY_NS : found.group(6) == null ? MINUTE_NS : SECOND_NS;
            Long at = date(found);
            if (at != null && overlaps(at, unit, fromNs, toNs)) {
                return found.group();
            }
        }
        return null;
    }

    /// The unit of a time with this many digits, in nanoseconds; 0 if it is not a time.
    private static long unit(int digits) {
        return switch (digits) {
            case 10 -> SECOND_NS;
            case 13 -> 1_000_000;
            case 16 -> 1_000;
            case 19 -> 1;
            default -> 0;
        };
    }

    private static boolean overlaps(long atNs, long unit, long fromNs, long toNs) {
        return atNs <= toNs && atNs > fromNs - unit;
    }

    private static @Nullable Long date(Matcher found) {
        try {
            return LocalDateTime.of(
                                    number(found, 1),
                                    number(found, 2),
                                    number(found, 3),
                                    number(found, 4),
                                    number(found, 5),
                                    number(found, 6))
                            .toEpochSecond(ZoneOffset.UTC)
                    * SECOND_NS;
        } catch (DateTimeException _) {
            return null;
        }
    }

    private static int number(Matcher found, int group) {
        String digits = found.group(group);
        return digits == null ? 0 : Integer.parseInt(digits);
    }
}
