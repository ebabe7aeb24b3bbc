package blackbox.replay.content;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How long something took, as a program printed it: a number with a unit of time (`3s`, `12 ms`, `0.25 seconds`), or
/// minutes and seconds (`0m1.234s`, as the shell's `time` has it).
///
/// @param length how many octets it has
/// @param form its unit, with the space before it if there is one
/// @param fraction how many digits are behind the point of the seconds, 0 for none
/// @param ns in nanoseconds
/// @param unitNs its unit
/// @param look whether it looks chosen or measured
record PrintedDuration(int length, String form, int fraction, double ns, double unitNs, Look look) {
    /// The longest that is known as one.
    static final int OCTETS_MAX = 32;

    /// Whether somebody chose it or measured it, as far as its digits show.
    enum Look {
        /// A whole number of tens, as time-outs are.
        ROUND,
        /// Whole seconds or minutes, or with one digit behind the point: either may be.
        PLAIN,
        /// More precise than what people write.
        PRECISE
    }

    private static final int DIGITS_MAX = 12;
    private static final int UNIT_OCTETS_MAX = 8;
    private static final int SEQUENCE_OCTETS_MAX = 64;
    private static final byte ESCAPE = 0x1b;
    private static final double SECOND_NS = 1e9;
    private static final double MINUTE_NS = 60 * SECOND_NS;
    private static final double HOUR_NS = 60 * MINUTE_NS;
    /// Units that programs choose by how long it took, writing a whole number of the largest that fits; and from
    /// how many nanoseconds on they choose a larger one.
    private static final Map<String, Double> ROUNDED =
            Map.of("ms", SECOND_NS, "s", MINUTE_NS, "m", HOUR_NS, "h", 24 * HOUR_NS);
    private static final Map<String, Double> UNITS = Map.ofEntries(
            Map.entry("ns", 1.0),
            Map.entry("us", 1e3),
            Map.entry("\u00c2\u00b5s", 1e3), // the micro sign in UTF-8
            Map.entry("ms", 1e6),
            Map.entry("s", SECOND_NS),
            Map.entry("sec", SECOND_NS),
            Map.entry("secs", SECOND_NS),
            Map.entry("second", SECOND_NS),
            Map.entry("seconds", SECOND_NS),
            Map.entry("m", MINUTE_NS),
            Map.entry("h", HOUR_NS),
            Map.entry("min", 60 * SECOND_NS),
            Map.entry("minute", 60 * SECOND_NS),
            Map.entry("minutes", 60 * SECOND_NS));

    /// The duration that begins at an octet, or null.
    ///
    /// @param octets 70 at least before `from`, or the stream's first
    /// @param end of the stream, or far behind `from`
    static @Nullable PrintedDuration at(byte[] octets, int from, int end) {
        if (from >= end || !PrintedTime.isDigit(octets[from]) || from > 0 && isPart(octets, from)) {
            return null;
        }
        Digits first = Digits.at(octets, from, end);
        if (first == null) {
            return null;
        }
        int at = first.end();
        Digits seconds = first.fraction() == 0 && at < end && octets[at] == 'm' ? Digits.at(octets, at + 1, end) : null;
        if (seconds != null && unit(octets, seconds.end(), end).equals("s")) {
            double ns = (60 * first.value() + seconds.value()) * SECOND_NS;
            return new PrintedDuration(
                    seconds.end() + 1 - from, "m s", seconds.fraction(), ns, SECOND_NS, look(seconds, SECOND_NS));
        }
        int space = at < end && octets[at] == ' ' ? 1 : 0;
        String unit = unit(octets, at + space, end);
        Double unitNs = UNITS.get(unit);
        if (unitNs == null || isCoarse(unit) && !isHowLong(octets, from, first, end)) {
            return null;
        }
        return new PrintedDuration(
                at + space + unit.length() - from,
                (space == 1 ? " " : "") + singular(unit),
                first.fraction(),
                first.value() * unitNs,
                unitNs,
                look(first, unitNs));
    }

    /// Whether a number of minutes or hours is how long something took: a whole one after `in `, right before its
    /// unit, and with no smaller unit after it. Elsewhere `5m` may be a size, and `5 m` metres.
    private static boolean isHowLong(byte[] octets, int from, Digits number, int end) {
        int unit = number.end();
        boolean rest = unit + 2 < end && octets[unit + 1] == ' ' && PrintedTime.isDigit(octets[unit + 2]);
        return number.fraction() == 0 && octets[unit] != ' ' && !rest && isAfterIn(octets, from);
    }

    private static boolean isAfterIn(byte[] octets, int from) {
        return from >= 3
                && octets[from - 3] == 'i'
                && octets[from - 2] == 'n'
                && octets[from - 1] == ' '
                && (from == 3 || octets[from - 4] != '_' && !PrintedTime.isOfWord(octets[from - 4]));
    }

    private static Look look(Digits digits, double unitNs) {
        if (digits.fraction() > 1) {
            return Look.PRECISE;
        }
        boolean whole = digits.fraction() == 0;
        if (whole && digits.value() >= 10 && digits.value() % 10 == 0) {
            return Look.ROUND;
        }
        return unitNs < SECOND_NS ? Look.PRECISE : Look.PLAIN;
    }

    /// A number without a sign, and where it ends.
    private record Digits(double value, int fraction, int end) {
        static @Nullable Digits at(byte[] octets, int from, int end) {
            int to = digits(octets, from, end);
            if (to == from || to - from > DIGITS_MAX) {
                return null;
            }
            int point = to;
            boolean broken = to + 1 < end && octets[to] == '.' && PrintedTime.isDigit(octets[to + 1]);
            to = broken ? digits(octets, to + 1, end) : to;
            if (to - from > 2 * DIGITS_MAX) {
                return null;
            }
            String letters = new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
            return new Digits(Double.parseDouble(letters), broken ? to - point - 1 : 0, to);
        }

        private static int digits(byte[] octets, int from, int end) {
            int to = from;
            while (to < end && PrintedTime.isDigit(octets[to])) {
                to++;
            }
            return to;
        }
    }

    /// The word at an octet; a longer one than any unit is none.
    private static String unit(byte[] octets, int from, int end) {
        int to = from;
        while (to < end && to - from <= UNIT_OCTETS_MAX && (PrintedTime.isOfWord(octets[to]) || octets[to] == '_')) {
            to++;
        }
        return new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private static String singular(String unit) {
        return unit.length() > 2 && unit.endsWith("s") ? unit.substring(0, unit.length() - 1) : unit;
    }

    /// Whether a number is a part of something else: of a word, of a longer number, or of what sets a colour
    /// (ECMA-48: `ESC [ 1 ; 31 m`). Right after such a sequence it is a number of its own.
    private static boolean isPart(byte[] octets, int from) {
        byte before = octets[from - 1];
        boolean joined = PrintedTime.isOfWord(before) || "_.,:+-".indexOf(before) >= 0;
        return isInSequence(octets, from) || joined && !(before == 'm' && isInSequence(octets, from - 1));
    }

    /// Whether the octets before one are a control sequence up to there, without its last letter.
    private static boolean isInSequence(byte[] octets, int at) {
        int from = at;
        int first = Math.max(2, at - SEQUENCE_OCTETS_MAX);
        while (from > first && (PrintedTime.isDigit(octets[from - 1]) || octets[from - 1] == ';')) {
            from--;
        }
        return from >= 2 && octets[from - 1] == '[' && octets[from - 2] == ESCAPE;
    }

    /// Whether both are written in the same way, and may have been measured.
    ///
    /// @param printed whether they are in output; in a file, whole seconds are more likely a setting
    boolean isLike(PrintedDuration other, boolean printed) {
        boolean measured = look == Look.PRECISE || other.look == Look.PRECISE;
        boolean round = look == Look.ROUND && other.look == Look.ROUND;
        return isSameForm(other) && (measured || printed && !round);
    }

    /// Whether both are written in the same way, and not in minutes or hours that may be something else.
    boolean isSameForm(PrintedDuration other) {
        return Objects.equals(form, other.form) && fraction == other.fraction && !isCoarse(form);
    }

    private static boolean isCoarse(String unit) {
        return unit.equals("m") || unit.equals("h");
    }

    /// Whether both are whole numbers of the unit that suited how long it took.
    boolean isRoundedLike(PrintedDuration other) {
        return isRounded() && other.isRounded();
    }

    private boolean isRounded() {
        return fraction == 0 && ROUNDED.containsKey(form);
    }

    /// How long it may have been, if it was rounded to the nearest number of the unit that suited; null if no
    /// length suits it.
    @Nullable
    Window nearest() {
        return suited(ns - unitNs / 2, ns + unitNs / 2);
    }

    /// How long it may have been, if what was left over was dropped; null if no length suits it.
    @Nullable
    Window cut() {
        return suited(ns, ns + unitNs);
    }

    /// Those of some lengths that are no shorter than the unit, unless there is no smaller one, and do not make one
    /// of the next larger unit.
    private @Nullable Window suited(double fromNs, double toNs) {
        Double largerNs = ROUNDED.get(form);
        if (largerNs == null) {
            return null;
        }
        double shortest = Math.max(fromNs, unitNs < SECOND_NS ? 0 : unitNs);
        double longest = Math.min(toNs, largerNs);
        return shortest < longest ? new Window((long) shortest, (long) longest) : null;
    }
}
