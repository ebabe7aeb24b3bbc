package blackbox.replay.request;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How a request of a re-executed guest compares with a recorded one, octet for octet, where both are whole.
///
/// What differs must be ids: words of letters, digits, `-` and `_`, equally long and of the same form, which stand for
/// each other already, or stand for nothing and are where clients write ids that they draw ([IdPlace]). An id is never
/// taken for one by its look alone.
///
/// @param differsAt the first octet that no id explains, or -1
/// @param where that octet is, in words; null if there is none
/// @param ties ids that stand for each other if these requests do, by the recorded one; not noted anywhere yet
/// @param places at which ids stood for others
public record RequestMatch(int differsAt, @Nullable String where, Map<String, String> ties, Set<IdPlace> places) {
    private static final int ID_LETTERS_MIN = 12;
    private static final int ID_LETTERS_MAX = 512;

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
        private final Map<String, String> ties = new HashMap<>();
        private final List<String> tied = new ArrayList<>();
        private final Set<IdPlace> places = EnumSet.noneOf(IdPlace.class);

        Comparing(byte[] recorded, byte[] actual, DrawnIds known) {
            this.recorded = recorded;
            this.actual = actual;
            this.known = known;
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
                    return new RequestMatch(differs, placeOf(differs).text(), ties, places);
                }
                at = end;
            }
        }

        private RequestPlace placeOf(int at) {
            return RequestPlace.of(at < recorded.length ? recorded : actual, at);
        }

        /// The end of the ids that stand for each other and have that octet in them; -1 if it is in none.
        private int idEnd(int at) {
            int from = at;
            while (from > 0 && isOfId(recorded[from - 1])) {
                from--;
            }
            int end = endOfId(recorded, at);
            if (end != endOfId(actual, at) || end - from > ID_LETTERS_MAX || end <= at) {
                return -1;
            }
            while (from < at && recorded[from] == '-') { // as before and after what separates parts
                from++;
            }
            while (end > at + 1 && recorded[end - 1] == '-' && actual[end - 1] == '-') {
                end--;
            }
            String one = text(recorded, from, end);
            String other = text(actual, from, end);
            if (other.equals(known.actualOf(one)) || other.equals(ties.get(one))) {
                RequestPlace place = placeOf(at);
                places.add(place.ids() == null ? IdPlace.TIED_ID : place.ids());
                return end;
            }
            return end - from >= ID_LETTERS_MIN && isDrawn(one, other, from, at) ? end : -1;
        }

        private boolean isDrawn(String one, String other, int from, int at) {
            RequestPlace place = RequestPlace.of(recorded, at);
            IdPlace ids = place.ids();
            boolean free = known.areFree(one, other) && !ties.containsKey(one) && !tied.contains(other);
            boolean there = ids != null && RequestPlace.of(recorded, from).equals(place);
            if (ids == null || !there || !free || !areAlike(one, other) || !place.equals(RequestPlace.of(actual, at))) {
                return false;
            }
            ties.put(one, other);
            tied.add(other);
            places.add(ids);
            return true;
        }

        private static int endOfId(byte[] octets, int at) {
            int end = at;
            while (end < octets.length && isOfId(octets[end])) {
                end++;
            }
            return end;
        }

        private static boolean isOfId(byte octet) {
            return octet >= '0' && octet <= '9'
                    || octet >= 'a' && octet <= 'z'
                    || octet >= 'A' && octet <= 'Z'
                    || octet == '-'
                    || octet == '_';
        }

        private static String text(byte[] octets, int from, int end) {
            return new String(octets, from, end - from, StandardCharsets.US_ASCII);
        }
    }

    /// Whether two words have `-` and `_` at the same places, and one has only digits, only hexadecimal ones, no
    /// capitals
    /// or no small letters if the other does.
    private static boolean areAlike(String one, String other) {
        for (int i = 0; i < one.length(); i++) {
            char mine = one.charAt(i);
            char others = other.charAt(i);
            if (mine != others && (isSeparator(mine) || isSeparator(others))) {
                return false;
            }
        }
        return alphabet(one) == alphabet(other);
    }

    private static boolean isSeparator(char letter) {
        return letter == '-' || letter == '_';
    }

    private static int alphabet(String word) {
        boolean digits = word.chars().allMatch(c -> c < 'A' || isSeparator((char) c));
        boolean hex = word.chars().allMatch(c -> isSeparator((char) c) || Character.digit(c, 16) >= 0);
        boolean small = word.chars().anyMatch(c -> c >= 'a' && c <= 'z');
        boolean capital = word.chars().anyMatch(c -> c >= 'A' && c <= 'Z');
        return (digits ? 1 : 0) | (hex ? 2 : 0) | (small ? 4 : 0) | (capital ? 8 : 0);
    }
}
