package blackbox.gateway.secret;

import java.util.Arrays;

/// One needle, followed through a text from where it may begin, as far as the text is known; it goes on where it was
/// when there is more. Owned by one thread.
final class Following {
    /// A longer text is no occurrence: so much is held back at most.
    static final int SPAN_MAX = 128 << 10;

    /// The first octets of a line that may be its indentation.
    private static final int INDENT_MAX = 64;

    private static final int NO_GAP = 0;
    private static final int AFTER_CR = 1;
    private static final int AFTER_LINE = 2;

    private final Quoted quoted;
    private Needle needle;
    private int from;
    private int step;
    private Places now = new Places();
    private Places next = new Places();
    private long looks;

    /// Where the octet that comes next may stand, and how far each is in a gap between lines.
    private static final class Places {
        private int[] at = new int[8];
        private int[] gap = new int[8];
        private int count;

        void add(int place, int within) {
            for (int each = 0; each < count; each++) {
                if (at[each] == place && gap[each] == within) {
                    return;
                }
            }
            if (count == at.length) {
                at = Arrays.copyOf(at, 2 * count);
                gap = Arrays.copyOf(gap, 2 * count);
            }
            at[count] = place;
            gap[count++] = within;
        }

        void set(int place) {
            count = 0;
            add(place, NO_GAP);
        }

        int last() {
            int last = -1;
            for (int each = 0; each < count; each++) {
                last = Math.max(last, at[each]);
            }
            return last;
        }

        void shift(int by) {
            for (int each = 0; each < count; each++) {
                at[each] -= by;
            }
        }
    }

    Following(Quoted quoted, Needle needle) {
        this.quoted = quoted;
        this.needle = needle;
    }

    /// Begins anew.
    void begin(Needle other, int at) {
        needle = other;
        from = at;
        step = 0;
        now.set(at);
    }

    Needle needle() {
        return needle;
    }

    /// How often an octet was looked at so far.
    long looks() {
        return looks;
    }

    /// Goes on as far as the text is known.
    ///
    /// @param whole whether nothing comes after it
    /// @return whether it is over: found or not
    boolean goOn(byte[] text, int end, boolean whole) {
        while (step < needle.length() && now.count > 0) {
            next.count = 0;
            boolean cut = false;
            for (int each = 0; each < now.count; each++) { // which grows where lines break
                cut |= look(text, now.at[each], now.gap[each], end);
            }
            if (cut && !whole) {
                return false; // this step is taken again
            }
            Places spare = now;
            now = next;
            next = spare;
            step++;
        }
        return true;
    }

    /// @return whether more text could lead further
    private boolean look(byte[] text, int at, int gap, int end) {
        looks++;
        if (at == end) {
            return true;
        }
        int octet = text[at] & 0xff;
        if (Quoted.begins(octet)) {
            return quoted.read(text, at, end, (read, after) -> reach(read, after, gap));
        }
        reach(octet, at + 1, gap);
        return false;
    }

    private void reach(int octet, int after, int gap) {
        if (after - from > SPAN_MAX) {
            return;
        }
        if (needle.accepts(step, octet)) {
            next.add(after, NO_GAP);
        } else if (step > 0 && needle.isBroken()) {
            int further = further(gap, octet);
            if (further > NO_GAP) {
                now.add(after, further);
            }
        }
    }

    /// How far in a gap an octet leads: one end of a line, and the indentation of the next.
    private static int further(int gap, int octet) {
        return switch (octet) {
            case '\r' -> gap == NO_GAP ? AFTER_CR : NO_GAP;
            case '\n' -> gap <= AFTER_CR ? AFTER_LINE : NO_GAP;
            case ' ', '\t' -> gap == NO_GAP || gap >= AFTER_LINE + INDENT_MAX ? NO_GAP : Math.max(gap, AFTER_LINE) + 1;
            default -> NO_GAP;
        };
    }

    /// The last place where it may end; -1 if it is not there. Once it is over.
    int reached() {
        return step == needle.length() ? now.last() : -1;
    }

    /// The text lost as many octets at its beginning.
    void shift(int by) {
        from -= by;
        now.shift(by);
    }
}
