package blackbox.replay.divergence.text;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/// Words of one side that are ids, or parts of ids, of git's objects, and stand for those of the other side. Found out
/// before any event is read. Not changed once it is made.
public final class StandingIds {

    /// No id stands for another.
    public static final StandingIds NONE = new StandingIds(Map.of(), Set.of());

    /// Ids of which all parts are known; memory is about 3 KiB each.
    public static final int IDS_MAX = 10_000;

    /// Letters of an id, of the shortest part that programs print, and of the name of a folder that holds objects whose
    /// ids begin alike.
    private static final int LETTERS = 40;

    private static final int LETTERS_MIN = 7;
    private static final int FOLDER_LETTERS = 2;

    private static final byte[] OBJECTS = "/objects/".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UNFINISHED = "/tmp_obj_".getBytes(StandardCharsets.US_ASCII);

    /// Distinguished from words by its value alone, like [TextNormalizer#PROCESS_NUMBER].
    static final long FOLDER = 6;

    private static final long SHARED = 0;

    private final Map<Long, Long> counts;
    /// Folder and name of the files that have these ids.
    private final Set<Long> files;

    private StandingIds(Map<Long, Long> counts, Set<Long> files) {
        this.counts = counts;
        this.files = files;
    }

    /// Those of the recorded side.
    ///
    /// @param ids actual ids, which count for both, by recorded ones; 40 lower-case hexadecimal digits
    public static StandingIds ofRecorded(KeyedHash hash, Map<String, String> ids) {
        return of(hash, ids, Map.Entry::getKey);
    }

    /// Those of the other side.
    public static StandingIds ofActual(KeyedHash hash, Map<String, String> ids) {
        return of(hash, ids, Map.Entry::getValue);
    }

    private static StandingIds of(
            KeyedHash hash, Map<String, String> ids, Function<Map.Entry<String, String>, String> side) {
        if (ids.isEmpty()) {
            return NONE;
        }
        var words = new TextNormalizer(hash, new MadeUpNames(hash, KnownNames.NOTHING), KnownNames.NOTHING);
        var counts = new HashMap<Long, Long>();
        var files = new HashSet<Long>();
        ids.entrySet().stream().limit(IDS_MAX).forEach(id -> {
            byte[] own = octets(side.apply(id));
            byte[] actual = octets(id.getValue());
            long standIn = words.word(actual, 0, LETTERS);
            for (int to = Math.min(telling(octets(id.getKey())), telling(actual)); to <= LETTERS; to++) {
                put(counts, words.word(own, 0, to), hash.mix(standIn, to, 0));
            }
            files.add(file(words.word(own, 0, FOLDER_LETTERS), words.word(own, FOLDER_LETTERS, LETTERS)));
            put(counts, words.word(own, FOLDER_LETTERS, LETTERS), hash.mix(standIn, FOLDER_LETTERS, 1));
        });
        counts.values().removeIf(standIn -> standIn == SHARED);
        return new StandingIds(Map.copyOf(counts), Set.copyOf(files));
    }

    private static byte[] octets(String id) {
        return id.getBytes(StandardCharsets.US_ASCII);
    }

    /// The shortest part that is no decimal number. If it is none on one side, it is not taken for one on the other.
    private static int telling(byte[] id) {
        int letter = 0;
        while (letter < LETTERS && id[letter] < 'a') {
            letter++;
        }
        return Math.min(LETTERS, Math.max(LETTERS_MIN, letter + 1));
    }

    /// Where two ids begin alike, their beginning stands for nothing.
    private static void put(Map<Long, Long> counts, long word, long standIn) {
        counts.merge(word, standIn, (one, other) -> one.equals(other) ? one : (Long) SHARED);
    }

    boolean isEmpty() {
        return counts.isEmpty();
    }

    /// What part of a text may be an id, by its length.
    static boolean mayBe(int letters) {
        return letters >= LETTERS_MIN && letters <= LETTERS;
    }

    /// Where a whole id begins at the end of a word, after `_`, as in the names of variables that git sets
    /// (`GITHEAD_8ab6…`); -1 if there is none.
    static int atEnd(byte[] array, int begin, int end) {
        int id = end - LETTERS;
        return id > begin && array[id - 1] == '_' ? id : -1;
    }

    /// What a word counts as, or [GenerationalCache#ABSENT] where it stands for itself.
    long standIn(long word) {
        return counts.getOrDefault(word, GenerationalCache.ABSENT);
    }

    /// Whether a word is the name of a folder of objects whose ids begin with it, and what is in it tells that, too:
    /// the
    /// file of one that stands for another, or one that git has not finished.
    boolean isFolder(TextNormalizer words, byte[] array, int from, int begin, int end, int textEnd) {
        int start = begin - OBJECTS.length;
        if (end - begin != FOLDER_LETTERS || start < from || !isAt(OBJECTS, array, start, textEnd)) {
            return false;
        }
        if (isAt(UNFINISHED, array, end, textEnd)) {
            return isHex(array[begin]) && isHex(array[begin + 1]);
        }
        int file = end + 1;
        int fileEnd = file + LETTERS - FOLDER_LETTERS;
        return fileEnd <= textEnd
                && array[end] == '/'
                && files.contains(file(words.word(array, begin, end), words.word(array, file, fileEnd)));
    }

    private static boolean isAt(byte[] wanted, byte[] array, int from, int end) {
        return from + wanted.length <= end
                && Arrays.equals(wanted, 0, wanted.length, array, from, from + wanted.length);
    }

    private static boolean isHex(byte octet) {
        return octet >= '0' && octet <= '9' || octet >= 'a' && octet <= 'f';
    }

    private static long file(long folder, long name) {
        return folder * 31 + name;
    }
}
