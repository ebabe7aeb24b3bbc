package blackbox.replay.content;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A whole number that stands by itself, as that of a process does: not in a word, a fraction, a time, an address or a
/// date, and without a unit.
///
/// @param length how many digits it has
record LoneNumber(long value, int length) {
    /// The kernel gives numbers up to 4,194,304.
    static final int DIGITS_MAX = 7;

    private static final int UNIT_OCTETS_MAX = 10;
    private static final Set<String> UNITS = Set.of(
            "ns",
            "us",
            "ms",
            "s",
            "sec",
            "secs",
            "second",
            "seconds",
            "m",
            "min",
            "mins",
            "minute",
            "minutes",
            "h",
            "hour",
            "hours",
            "day",
            "days",
            "B",
            "KB",
            "kB",
            "MB",
            "GB",
            "KiB",
            "MiB",
            "GiB",
            "byte",
            "bytes",
            "octets",
            "bits",
            "blocks",
            "files",
            "lines",
            "rows",
            "times",
            "tests",
            "passed",
            "failed",
            "errors",
            "warnings");

    /// The number that begins at an octet, or null.
    ///
    /// @param octets two at least before `from`, or the stream's first
    /// @param end of the stream, or far behind `from`
    static @Nullable LoneNumber at(byte[] octets, int from, int end) {
        int to = from;
        long value = 0;
        while (to < end && PrintedTime.isDigit(octets[to]) && to - from <= DIGITS_MAX) {
            value = 10 * value + octets[to++] - '0';
        }
        boolean whole = to > from && to - from <= DIGITS_MAX && octets[from] != '0';
        return whole && mayBegin(octets, from) && mayEnd(octets, to, end) ? new LoneNumber(value, to - from) : null;
    }

    private static boolean mayBegin(byte[] octets, int from) {
        if (from == 0) {
            return true;
        }
        byte before = octets[from - 1];
        if (isOfWord(before) || before == '+') {
            return false;
        }
        return !joins(before) || from == 1 || !PrintedTime.isDigit(octets[from - 2]);
    }

    private static boolean mayEnd(byte[] octets, int to, int end) {
        if (to == end) {
            return true;
        }
        byte after = octets[to];
        if (isOfWord(after) || after == '%') {
            return false;
        }
        boolean joined = joins(after) && to + 1 < end && PrintedTime.isDigit(octets[to + 1]);
        return !joined && !(after == ' ' && isUnit(octets, to + 1, end));
    }

    private static boolean isUnit(byte[] octets, int from, int end) {
        int to = from;
        while (to < end && to - from <= UNIT_OCTETS_MAX && isOfWord(octets[to])) {
            to++;
        }
        return UNITS.contains(new String(octets, from, to - from, StandardCharsets.ISO_8859_1));
    }

    private static boolean isOfWord(byte octet) {
        return octet == '_' || PrintedTime.isOfWord(octet);
    }

    /// What makes one of two numbers, such as a fraction, a time, a date or an address.
    private static boolean joins(byte octet) {
        return octet == '.' || octet == ',' || octet == ':' || octet == '-' || octet == '/';
    }
}
