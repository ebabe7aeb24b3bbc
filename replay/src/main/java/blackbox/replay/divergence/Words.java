package blackbox.replay.divergence;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// Hashes texts word by word (letters, digits, `_`), so that single words can be renamed wherever they occur:
/// random parts of temporary names, ports that the kernel chose. Owned by one thread.
final class Words {

    private static final int RENAMED_MAX = 65_536;
    private static final int RANDOM_BYTES_MIN = 6;
    private static final int RANDOM_BYTES_MAX = 16;
    private static final long PROCESS_NUMBER = 3;
    private static final byte[] PROC = "/proc/".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TMP = "tmp".getBytes(StandardCharsets.US_ASCII);
    private static final boolean[] WORD = new boolean[256];

    static {
        for (int c = 0; c < 256; c++) {
            WORD[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
        }
    }

    private final KeyedHash hash;
    private final FadingTable renamed = new FadingTable(RENAMED_MAX);
    private long self;
    private long parent;
    private long numbersLane;
    private long namesLane;

    Words(KeyedHash hash) {
        this.hash = hash;
    }

    /// Begins an event of a process: the numbers that it may have put into names, as [#word] hashes, 0 for
    /// none.
    void begin(long selfWord, long parentWord) {
        self = selfWord;
        parent = parentWord;
        numbersLane = 0;
        namesLane = 0;
    }

    /// Sum over the process numbers that were renamed since [#begin], as they stood there.
    long numbersLane() {
        return numbersLane;
    }

    /// The same for temporary names and ports.
    long namesLane() {
        return namesLane;
    }

    /// From now on `word` counts as `canon`.
    void rename(long word, long canon) {
        renamed.put(word, canon);
    }

    /// The hash of a text, its words renamed. Numbers in a path below /proc are processes.
    long text(byte[] array, int from, int length) {
        boolean proc = startsWith(array, from, length, PROC);
        int end = from + length;
        long total = length == 0 ? 1 : 2;
        int at = from;
        while (at < end) {
            int begin = at;
            while (at < end && WORD[array[at] & 0xff]) {
                at++;
            }
            if (at > begin) {
                total = hash.mix(total, renamed(word(array, begin, at), proc && isNumber(array, begin, at)));
            }
            if (at < end) {
                total = hash.mix(total, array[at++] & 0xff | 0x100);
            }
        }
        return total;
    }

    private long renamed(long word, boolean processNumber) {
        if (processNumber || word == self || word == parent) {
            numbersLane += word;
            return PROCESS_NUMBER;
        }
        if (renamed.isEmpty()) {
            return word;
        }
        long canon = renamed.get(word);
        if (canon == FadingTable.ABSENT) {
            return word;
        }
        namesLane += word;
        return canon;
    }

    /// The hash of one word.
    long word(byte[] array, int from, int to) {
        long total = (long) to - from;
        long chunk = 0;
        int held = 0;
        for (int i = from; i < to; i++) {
            chunk = chunk << 8 | array[i] & 0xff;
            if (++held == Long.BYTES) {
                total = hash.mix(total, chunk);
                chunk = 0;
                held = 0;
            }
        }
        return held == 0 ? total : hash.mix(total, chunk);
    }

    /// The hash of a number as a word.
    long word(long number) {
        byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
        return word(digits, 0, digits.length);
    }

    /// Renames what looks random in the last name of a path that was created exclusively; `ordinal` counts
    /// such creations of the process.
    void temporary(byte[] array, int from, int length, long ordinal) {
        int end = from + length;
        int name = end;
        while (name > from && array[name - 1] != '/') {
            name--;
        }
        boolean folder = isTemporaryFolder(array, from, name);
        boolean named = folder || isNamedTemporary(array, name, end);
        int at = name;
        while (at < end) {
            int begin = at;
            while (at < end && WORD[array[at] & 0xff]) {
                at++;
            }
            if (looksRandom(array, begin, at, folder, named)) {
                long before = text(array, name, begin - name);
                long behind = text(array, at, end - at);
                rename(word(array, begin, at), hash.mix(hash.mix(before, behind), ordinal, (long) at - begin));
            }
            at++;
        }
    }

    private static boolean isTemporaryFolder(byte[] array, int from, int name) {
        String folder = new String(array, from, name - from, StandardCharsets.ISO_8859_1);
        return folder.startsWith("/tmp/") || folder.startsWith("/var/tmp/") || folder.startsWith("/dev/shm/");
    }

    private static boolean isNamedTemporary(byte[] array, int name, int end) {
        String last = new String(array, name, end - name, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
        return last.contains("tmp") || last.contains("temp");
    }

    /// mkstemp(3) takes six or more letters and digits, mktemp(1) ten; Python's tempfile eight of lower-case
    /// letters, digits and `_`, mostly behind `tmp`. In a folder for temporary files a word of such a length
    /// is taken for random, elsewhere only where its kinds of characters change as they do by chance.
    private static boolean looksRandom(byte[] array, int from, int to, boolean folder, boolean named) {
        int begin = startsWith(array, from, to - from, TMP) ? from + TMP.length : from;
        if ((folder || begin > from) && (to - begin == 6 || to - begin == 8 || to - begin == 10)) {
            return true;
        }
        for (int i = begin; i < to - 1; i++) {
            if (array[i] == '_') {
                begin = i + 1;
            }
        }
        int length = to - begin;
        return length >= RANDOM_BYTES_MIN && length <= RANDOM_BYTES_MAX && changes(array, begin, to) >= (named ? 1 : 3);
    }

    /// How often the kind of character changes, a capital at the beginning left aside.
    private static int changes(byte[] array, int from, int to) {
        int changes = 0;
        for (int i = from + 1; i < to; i++) {
            boolean capital = i == from + 1 && kindOf(array[from]) == 2 && kindOf(array[i]) == 1;
            if (!capital && kindOf(array[i]) != kindOf(array[i - 1])) {
                changes++;
            }
        }
        return changes;
    }

    private static int kindOf(byte c) {
        return c >= '0' && c <= '9' ? 0 : c >= 'a' && c <= 'z' ? 1 : 2;
    }

    private static boolean isNumber(byte[] array, int from, int to) {
        for (int i = from; i < to; i++) {
            if (array[i] < '0' || array[i] > '9') {
                return false;
            }
        }
        return true;
    }

    private static boolean startsWith(byte[] array, int from, int length, byte[] start) {
        if (length < start.length) {
            return false;
        }
        for (int i = 0; i < start.length; i++) {
            if (array[from + i] != start[i]) {
                return false;
            }
        }
        return true;
    }
}
