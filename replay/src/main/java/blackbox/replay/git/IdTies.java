package blackbox.replay.git;

import blackbox.replay.content.KnownTies;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Ids of git's objects, and of packs of them, that stand for each other, and the times in these objects. Owned by one
/// thread until [ObjectProof] and [PackTies] are done, then not changed any more.
public final class IdTies implements KnownTies {
    /// No id stands for another.
    public static final IdTies NONE = new IdTies();

    /// The shortest beginning of an id that git prints for it.
    public static final int ABBREVIATED_MIN = 7;

    /// An id as a whole.
    public static final int ID_LETTERS = 40;

    private static final Pattern ID =
            Pattern.compile("(?<![0-9A-Za-z_])[0-9a-f]{" + ABBREVIATED_MIN + "," + ID_LETTERS + "}(?![0-9A-Za-z_])");
    private static final Pattern LOOSE = Pattern.compile("([0-9a-f]{2})/([0-9a-f]{38})");

    private final Map<String, String> objects = new TreeMap<>();
    /// These, and those of packs.
    private final TreeMap<String, String> actualOf = new TreeMap<>();
    private final Set<Times> times = new HashSet<>();

    /// Seconds since 1970 in two objects that stand for each other, at the same place.
    private record Times(long recorded, long actual) {}

    IdTies() {}

    void add(String recorded, String actual) {
        objects.put(recorded, actual);
        actualOf.put(recorded, actual);
    }

    /// Adds what two packs are called that stand for each other.
    void addPack(String recorded, String actual) {
        actualOf.put(recorded, actual);
    }

    void addTimes(long recorded, long actual) {
        times.add(new Times(recorded, actual));
    }

    /// Actual ids of objects by recorded ones.
    public Map<String, String> objects() {
        return Collections.unmodifiableMap(objects);
    }

    /// The same, with those of packs.
    public Map<String, String> pairs() {
        return Collections.unmodifiableMap(actualOf);
    }

    public boolean isEmpty() {
        return actualOf.isEmpty();
    }

    /// Whether one object stands for the other.
    boolean isPair(String recorded, String actual) {
        return actual.equals(objects.get(recorded));
    }

    /// Whether two texts are the same but for ids, whole or abbreviated to the same length, that stand for each other.
    @Override
    public boolean standFor(String recorded, String actual) {
        if (isEmpty() || recorded.length() != actual.length()) {
            return recorded.equals(actual);
        }
        Matcher one = ID.matcher(recorded);
        Matcher other = ID.matcher(actual);
        int from = 0;
        while (one.find()) {
            boolean sameBefore = other.find()
                    && other.start() == one.start()
                    && other.end() == one.end()
                    && recorded.regionMatches(from, actual, from, one.start() - from);
            if (!sameBefore || !one.group().equals(other.group()) && !begin(one.group(), other.group())) {
                return false;
            }
            from = one.end();
        }
        return recorded.regionMatches(from, actual, from, recorded.length() - from);
    }

    /// Whether they are beginnings of ids of which one stands for the other.
    private boolean begin(String recorded, String actual) {
        var begun = actualOf.subMap(recorded, true, recorded + 'g', false).values();
        return (isTelling(recorded) || isTelling(actual))
                && !begun.isEmpty()
                && begun.stream().allMatch(id -> id.startsWith(actual));
    }

    /// Whether a word is no decimal number. If one of two is none, the other is not taken for a number either: every
    /// 27th
    /// id begins with seven digits.
    private static boolean isTelling(String word) {
        return word.length() == ID_LETTERS || word.chars().anyMatch(letter -> letter >= 'a' && letter <= 'f');
    }

    /// The actual file of an object of its own, within the folder of all objects, that stands for a recorded one; null
    /// if none does.
    ///
    /// @param recordedFile such as `5b/f36e…`
    public @Nullable String sameFile(String recordedFile) {
        Matcher file = LOOSE.matcher(recordedFile);
        String actual = file.matches() ? objects.get(file.group(1) + file.group(2)) : null;
        return actual == null ? null : actual.substring(0, 2) + '/' + actual.substring(2);
    }

    /// Whether they are the times of objects that stand for each other.
    @Override
    public boolean isSameSecond(long recorded, long actual) {
        return times.contains(new Times(recorded, actual));
    }
}
