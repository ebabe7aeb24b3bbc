package blackbox.gateway.secret;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A search for needles in one text that comes in pieces. What was known of a place at which one may begin is kept
/// until
/// more text comes, so that each octet is looked at as often as if the text had come at once. Owned by one thread.
final class Search {
    private final Needles needles;
    /// Those that need more text, all from one place.
    private final List<Following> waiting = new ArrayList<>();
    private @Nullable Following spare;
    /// The longest that was found from that place.
    private @Nullable Occurrence longest;

    private long looks;
    private int settled;

    /// @param end one past its last octet
    record Occurrence(Needle needle, int from, int end) {}

    Search(Needles needles) {
        this.needles = needles;
    }

    /// How often an octet was looked at so far.
    long looks() {
        return looks;
    }

    /// Searches from where it has come to.
    ///
    /// @param end of what is known of the text
    /// @param whole whether nothing comes after it
    /// @return the first there is, the longest of those that begin there; null if there is none before [#settled]
    @Nullable
    Occurrence next(byte[] text, int end, boolean whole) {
        if (needles.isEmpty()) {
            settled = end;
            return null;
        }
        for (; settled < end; settled++) {
            if (waiting.isEmpty()) {
                long before = needles.quoted().looks();
                List<Needle> possible = needles.at(text, settled, end, whole);
                looks += 1 + needles.quoted().looks() - before;
                if (possible == null) {
                    return null; // more may make it one
                }
                for (Needle needle : possible) {
                    follow(needle, text, end, whole);
                }
            } else {
                waiting.removeIf(each -> goOn(each, text, end, whole));
            }
            if (!waiting.isEmpty()) {
                return null; // more may make it one, or a longer one
            }
            Occurrence found = longest;
            if (found != null) {
                longest = null;
                settled = found.end();
                return found;
            }
        }
        return null;
    }

    private void follow(Needle needle, byte[] text, int end, boolean whole) {
        Following one = spare == null ? new Following(needles.quoted(), needle) : spare;
        one.begin(needle, settled);
        if (goOn(one, text, end, whole)) {
            spare = one;
        } else {
            spare = null;
            waiting.add(one);
        }
    }

    private boolean goOn(Following one, byte[] text, int end, boolean whole) {
        long before = one.looks() + needles.quoted().looks();
        boolean over = one.goOn(text, end, whole);
        looks += one.looks() + needles.quoted().looks() - before;
        if (over) {
            Occurrence known = longest;
            if (one.reached() > (known == null ? settled : known.end())) {
                longest = new Occurrence(one.needle(), settled, one.reached());
            }
        }
        return over;
    }

    /// Up to where no needle begins, but those that were returned.
    int settled() {
        return settled;
    }

    /// The text lost as many octets at its beginning.
    void shift(int by) {
        settled -= by;
        waiting.forEach(each -> each.shift(by));
        Occurrence known = longest;
        if (known != null) {
            longest = new Occurrence(known.needle(), known.from() - by, known.end() - by);
        }
    }
}
