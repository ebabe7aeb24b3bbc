package blackbox.replay.content;

import org.jspecify.annotations.Nullable;

/// A time as a program printed it.
///
/// @param length how many octets it has
/// @param style how it makes use of what its form leaves open
/// @param shown which times it may mean
/// @param unitNs its resolution: it was cut to a multiple of so many nanoseconds
record PrintedTime(TimeForm form, int length, Style style, ShownTime shown, long unitNs) {

    /// The longest that is known as one.
    static final int OCTETS_MAX = 64;

    /// What is looked at after a time, to see that it ends there.
    private static final int AFTER = 4;

    private static final long SECOND_NS = 1_000_000_000;

    private static final TimeForm[] FORMS = TimeForm.values();

    /// How a form is used. A program does this in the same way each time.
    ///
    /// @param zone as it is written, with a space before it if there is one; empty for none
    /// @param padding how a day below 10 is made as long as the others; null if it is not below 10
    /// @param halves whether hours go to 12
    /// @param point what is before the fraction; 0 if there is none
    /// @param fraction its digits; empty if there is none
    record Style(String zone, @Nullable Padding padding, boolean halves, char point, String fraction) {

        boolean isLike(Style other) {
            return zone.equals(other.zone)
                    && halves == other.halves
                    && (padding == null || other.padding == null || padding == other.padding)
                    && (point == 0 || other.point == 0 || point == other.point)
                    && hasFractionLike(other);
        }

        /// A fraction has as many digits as the other one; or both go without zeros at their end, so that the one
        /// of a whole second is missing; or they have none, 3, 6 or 9, as Java has it.
        private boolean hasFractionLike(Style other) {
            return fraction.length() == other.fraction.length()
                    || hasNoZeros() && other.hasNoZeros()
                    || hasGroups() && other.hasGroups();
        }

        private boolean hasNoZeros() {
            return !fraction.endsWith("0") || fraction.equals("0");
        }

        private boolean hasGroups() {
            return fraction.length() % 3 == 0 && fraction.length() <= 9;
        }
    }

    /// How a day below 10 is written.
    enum Padding {
        NONE,
        SPACE,
        ZERO
    }

    /// The longest time that begins at an octet, or null. Octets of a longer number or word are none.
    ///
    /// @param octets at least two before `from`, or the stream's first
    /// @param end of the stream, or at least 68 octets after `from`
    static @Nullable PrintedTime at(byte[] octets, int from, int end) {
        return from < end && mayBeginAt(octets, from) ? longest(octets, from, end) : null;
    }

    /// The same in the name of a file, where no number has decimal places: `app.tmp.121.1795786564857`.
    static @Nullable PrintedTime inName(byte[] octets, int from, int end) {
        boolean part = from > 0 && from < end && octets[from - 1] == '.' && isDigit(octets[from]);
        return part ? longest(octets, from, end) : at(octets, from, end);
    }

    private static @Nullable PrintedTime longest(byte[] octets, int from, int end) {
        boolean name = octets[from] >= 'A';
        int last = Math.min(end, from + OCTETS_MAX + AFTER);
        PrintedTime longest = null;
        for (TimeForm form : FORMS) {
            if (form.beginsWithName() == name) {
                PrintedTime time = new TimeReader(octets, from, last).read(form);
                if (time != null && time.length <= OCTETS_MAX && (longest == null || time.length > longest.length)) {
                    longest = time;
                }
            }
        }
        return longest;
    }

    /// Neither within a word or a number, nor a number with a sign.
    private static boolean mayBeginAt(byte[] octets, int from) {
        byte first = octets[from];
        if (!isDigit(first) && !(first >= 'A' && first <= 'W')) {
            return false;
        }
        if (from == 0) {
            return true;
        }
        byte before = octets[from - 1];
        if (isOfWord(before)) {
            return false;
        }
        boolean joined = from > 1 && isOfWord(octets[from - 2]);
        return switch (before) {
            case '.', ':' -> !isDigit(first) || !joined || !isDigit(octets[from - 2]);
            case '-', '+' -> !isDigit(first) || joined;
            default -> true;
        };
    }

    /// A letter or a digit; whatever is not ASCII is taken for a letter.
    static boolean isOfWord(byte octet) {
        return octet < 0 || isDigit(octet) || octet >= 'A' && octet <= 'Z' || octet >= 'a' && octet <= 'z';
    }

    static boolean isDigit(byte octet) {
        return octet >= '0' && octet <= '9';
    }

    /// Whether both are written in the same way, whichever times they are.
    boolean isLike(PrintedTime other) {
        return form == other.form && style.isLike(other.style);
    }

    /// The second since 1970 that it means, if it is a whole one and no other; else null.
    @Nullable
    Long second() {
        return shown instanceof ShownTime.Once once && unitNs == SECOND_NS ? (Long) (once.ns() / SECOND_NS) : null;
    }

    /// A stretch outside of which it means no time.
    Window range() {
        return shown instanceof ShownTime.Once once
                ? new Window(once.ns() - Window.TOLERANCE_NS, once.ns() + unitNs + Window.TOLERANCE_NS)
                : new Window(0, Long.MAX_VALUE);
    }

    /// Whether it may mean a time of a window.
    boolean isIn(Window window) {
        return shown.isIn(window, unitNs);
    }
}
