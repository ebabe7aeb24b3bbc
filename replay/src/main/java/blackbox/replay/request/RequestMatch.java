package blackbox.replay.request;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How a request of a re-executed guest compares with a recorded one, octet for octet, where both are whole.
///
/// What differs must be ids: words of letters and digits, or UUIDs, equally long and of the same form, which stand for
/// each other already; or which stand for nothing, are where clients write ids that they draw ([IdPlace]), differ in
/// every third letter at least, and of which the replay's is nowhere in the recording. An id is never taken for one by
/// its look alone.
///
/// @param differsAt the first octet that no id explains, or -1
/// @param where that octet is, in words; null if there is none
/// @param ties ids that stand for each other if these requests do, by the recorded one; not noted anywhere yet
/// @param places at which ids stood for others
public record RequestMatch(int differsAt, @Nullable String where, Map<String, String> ties, Set<IdPlace> places) {
    private static final int ID_LETTERS_MIN = 12;
    private static final int ID_LETTERS_MAX = 512;
    /// In one request: each is looked for in the whole body.
    private static final int TIES_MAX = 64;
    private static final int UUID_LETTERS = 36;

    public RequestMatch {
        ties = Map.copyOf(ties);
        places = places.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(places));
    }

    /// Whether the one may be answered as the other was.
    public boolean isMatch() {
        return differsAt < 0;
    }

    /// Compares.
    ///
    /// @param known ids that stand for each other so far; not changed
    public static RequestMatch of(byte[] recorded, byte[] actual, DrawnIds known) {
        return new Comparing(recorded, actual, known).match();
    }

    /// Notes what follows from two requests being the same.
    public void tie(DrawnIds known) {
        ties.forEach(known::tie);
    }

    private static final class Comparing {
        private final byte[] recorded;
        private final byte[] actual;
        private final DrawnIds known;
        private final int headEnd;
        private final Map<String, String> ties = new HashMap<>();
        private final Set<String> tied = new HashSet<>();
        private final Set<IdPlace> places = EnumSet.noneOf(IdPlace.class);

        Comparing(byte[] recorded, byte[] actual, DrawnIds known) {
            this.recorded = recorded;
            this.actual = actual;
            this.known = known;
            this.headEnd = RequestPlace.headEnd(recorded);
        }

        RequestMatch match() {
            // An id stands for one that is as long, so two requests that stand for each other are, too.
            int at = 0;
            while (true) {
                int same = Arrays.mismatch(recorded, at, recorded.length, actual, at, actual.length);
                if (same < 0) {
                    return new RequestMatch(-1, null, ties, places);
                }
                int differs = at + same;
                int end = recorded.length == actual.length ? idEnd(differs) : -1;
                if (end < 0) {
                    byte[] longer = differs < recorded.length ? recorded : actual;
                    return new RequestMatch(
                            differs, RequestPlace.of(longer, differs).text(), ties, places);
                }
                at = end;
            }
        }

        /// The end of the ids that stand for each other and have that octet in them; -1 if it is in none.
        private int idEnd(int at) {
            int from = wordBegin(at);
            int end = wordEnd(recorded, at);
            int uuid = uuidBegin(at);
            if (uuid >= 0) {
                from = uuid;
                end = uuid + UUID_LETTERS;
            } else if (end != wordEnd(actual, at)) {
                return -1;
            }
            if (end <= at || end - from > ID_LETTERS_MAX) {
                return -1;
            }
            String one = text(recorded, from, end);
            String other = text(actual, from, end);
            if (other.equals(known.actualOf(one)) || other.equals(ties.get(one))) {
                IdPlace place = at < headEnd ? RequestPlace.of(recorded, from).ids() : null;
                places.add(place == null ? IdPlace.TIED_ID : place);
                return end;
            }
            return end - from >= ID_LETTERS_MIN && isDrawn(one, other, from) ? end : -1;
        }

        private boolean isDrawn(String one, String other, int from) {
            if (ties.size() == TIES_MAX || !areAlike(one, other) || !known.areFree(one, other, ties.size())) {
                return false;
            }
            RequestPlace place = RequestPlace.of(recorded, from);
            IdPlace ids = place.ids();
            boolean free = !ties.containsKey(one) && !tied.contains(other);
            if (ids == null || !free || !place.equals(RequestPlace.of(actual, from))) {
                return false;
            }
            ties.put(one, other);
            tied.add(other);
            places.add(ids);
            return true;
        }

        private int wordBegin(int at) {
            int from = at;
            while (from > 0 && isOfWord(recorded[from - 1])) {
                from--;
            }
            return from;
        }

        private static int wordEnd(byte[] octets, int at) {
            int end = at;
            while (end < octets.length && isOfWord(octets[end])) {
                end++;
            }
            return end;
        }

        /// Where the UUIDs begin that both have around an octet; -1 if there are none.
        private int uuidBegin(int at) {
            for (int from = Math.max(0, at - UUID_LETTERS + 1); from <= at; from++) {
                if (isUuid(recorded, from) && isUuid(actual, from)) {
                    return from;
                }
            }
            return -1;
        }

        /// Of 8, 4, 4, 4 and 12 hexadecimal digits, and no part of a longer word.
        private static boolean isUuid(byte[] octets, int from) {
            int end = from + UUID_LETTERS;
            if (end > octets.length
                    || from > 0 && isOfWord(octets[from - 1])
                    || end < octets.length && isOfWord(octets[end])) {
                return false;
            }
            for (int i = 0; i < UUID_LETTERS; i++) {
                byte octet = octets[from + i];
                boolean hyphen = i == 8 || i == 13 || i == 18 || i == 23;
                if (hyphen ? octet != '-' : octet < 0 || Character.digit(octet, 16) < 0) {
                    return false;
                }
            }
            return true;
        }

        private static boolean isOfWord(byte octet) {
            return octet >= '0' && octet <= '9' || octet >= 'a' && octet <= 'z' || octet >= 'A' && octet <= 'Z';
        }

        private static String text(byte[] octets, int from, int end) {
            return new String(octets, from, end - from, StandardCharsets.US_ASCII);
        }
    }

    /// Whether two words have `-` at the same places, one has only digits, only hexadecimal ones, no capitals or no
    /// small letters if the other does, and every third letter differs at least: an id that has the time in it is
    /// drawn, and the next one of a list is not.
    private static boolean areAlike(String one, String other) {
        int differing = 0;
        for (int i = 0; i < one.length(); i++) {
            char mine = one.charAt(i);
            char others = other.charAt(i);
            if (mine != others && (mine == '-' || others == '-')) {
                return false;
            }
            differing += mine == others ? 0 : 1;
        }
        return 3 * differing >= one.length() && alphabet(one) == alphabet(other);
    }

    private static int alphabet(String word) {
        boolean digits = word.chars().allMatch(c -> c < 'A');
        boolean hex = word.chars().allMatch(c -> c == '-' || Character.digit(c, 16) >= 0);
        boolean small = word.chars().anyMatch(c -> c >= 'a' && c <= 'z');
        boolean capital = word.chars().anyMatch(c -> c >= 'A' && c <= 'Z');
        return (digits ? 1 : 0) | (hex ? 2 : 0) | (small ? 4 : 0) | (capital ? 8 : 0);
    }
}
