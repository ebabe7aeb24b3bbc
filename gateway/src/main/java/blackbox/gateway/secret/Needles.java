package blackbox.gateway.secret;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Looks for any of several octet strings in any of their forms. Owned by one thread.
final class Needles {
    private static final int OCTETS = 256;
    private static final char[] LINE_END = {'\r', '\n'};

    private final List<Needle> all;
    /// Those that begin with an octet.
    private final List<List<Needle>> beginning = new ArrayList<>(OCTETS);
    /// Places that one needle has been followed to, and the next ones.
    private int[] now = new int[8];
    private int[] next = new int[8];
    private int count;

    private boolean cut;
    private boolean quotes;

    /// @param end one past its last octet
    record Occurrence(Needle needle, int from, int end) {}

    /// What is known of a text up to its known end.
    ///
    /// @param occurrence the first, the longest of those that begin there; null if there is none before `settled`
    /// @param settled where the next one may begin
    record Search(@Nullable Occurrence occurrence, int settled) {}

    Needles(List<Needle> all) {
        this.all = List.copyOf(all);
        for (int octet = 0; octet < OCTETS; octet++) {
            int each = octet;
            beginning.add(all.stream().filter(needle -> needle.accepts(0, each)).toList());
        }
    }

    /// Searches from a place on.
    ///
    /// @param end of what is known of the text
    /// @param whole whether nothing comes after it
    Search search(byte[] text, int from, int end, boolean whole) {
        for (int at = from; at < end; at++) {
            cut = false;
            Occurrence longest = longest(possible(text, at, end), text, at, end);
            if (cut && !whole) {
                return new Search(null, at); // more may make it one, or a longer one
            }
            if (longest != null) {
                return new Search(longest, at);
            }
        }
        return new Search(null, end);
    }

    /// Those that what stands at a place may be the beginning of.
    private List<Needle> possible(byte[] text, int at, int end) {
        int octet = text[at] & 0xff;
        List<Needle> plain = beginning.get(octet);
        if (!Quoted.begins(octet) || all.isEmpty()) {
            return plain;
        }
        quotes = false;
        cut = Quoted.read(
                text,
                at,
                end,
                (quoted, after) -> quotes |= !beginning.get(quoted).isEmpty());
        return quotes ? all : plain;
    }

    private @Nullable Occurrence longest(List<Needle> possible, byte[] text, int at, int end) {
        Occurrence longest = null;
        for (Needle needle : possible) {
            int reached = follow(needle, text, at, end);
            if (reached > (longest == null ? at : longest.end())) {
                longest = new Occurrence(needle, at, reached);
            }
        }
        return longest;
    }

    /// The last place where it may end; -1 if it is not here.
    private int follow(Needle needle, byte[] text, int from, int end) {
        now[0] = from;
        int places = 1;
        for (int step = 0; step < needle.length(); step++) {
            count = 0;
            int wanted = step;
            for (int each = 0; each < places; each++) {
                int at = step > 0 && needle.isBroken() ? afterBreak(text, now[each], end) : now[each];
                if (at == end) {
                    cut = true;
                    continue;
                }
                int octet = text[at] & 0xff;
                if (needle.accepts(step, octet)) {
                    reach(at + 1);
                }
                if (Quoted.begins(octet)) {
                    cut |= Quoted.read(text, at, end, (quoted, after) -> {
                        if (needle.accepts(wanted, quoted)) {
                            reach(after);
                        }
                    });
                }
            }
            if (count == 0) {
                return -1;
            }
            int[] spare = now;
            now = next;
            next = spare;
            places = count;
        }
        int last = now[0];
        for (int each = 1; each < places; each++) {
            last = Math.max(last, now[each]);
        }
        return last;
    }

    /// The place behind one end of a line, which may be quoted as in JSON.
    private static int afterBreak(byte[] text, int from, int end) {
        int at = from;
        for (char part : LINE_END) {
            if (at < end && text[at] == part) {
                at++;
            } else if (at + 1 < end && text[at] == '\\' && text[at + 1] == (part == '\r' ? 'r' : 'n')) {
                at += 2;
            }
        }
        return at;
    }

    private void reach(int place) {
        for (int each = 0; each < count; each++) {
            if (next[each] == place) {
                return;
            }
        }
        if (count == next.length) {
            next = Arrays.copyOf(next, 2 * count);
        }
        next[count++] = place;
    }

    void clear() {
        all.forEach(Needle::clear);
    }
}
