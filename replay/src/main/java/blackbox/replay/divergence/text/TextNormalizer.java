package blackbox.replay.divergence.text;

import blackbox.replay.content.OwnIds;
import blackbox.replay.content.Window;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Hashes texts word by word (letters of any script, digits, `_`), so that single words can be renamed wherever
/// they occur: process numbers, names that programs made up, times in the names of what they created, ports that the
/// kernel chose. Owned by one thread.
public final class TextNormalizer {

    private static final int PORTS_MAX = 65_536;
    private static final long PROCESS_NUMBER = 3;
    private static final byte[] PROC = "/proc/".getBytes(StandardCharsets.US_ASCII);
    private static final boolean[] WORD = new boolean[256];

    static {
        for (int c = 0; c < 256; c++) {
            WORD[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80;
        }
    }

    private final KeyedHash hash;
    private final MadeUpNames names;
    private final @Nullable StandingIds ids;
    private final OwnIds drawn;
    private final TimedNames times;
    private final GenerationalCache ports = new GenerationalCache(PORTS_MAX);
    private long self;
    private long parent;
    private long numbersLane;
    private long namesLane;
    private long portsLane;

    /// The made-up name that was hashed last in this part of a path, and the hash up to its end.
    private long joined;

    private long joinedTotal;

    public TextNormalizer(KeyedHash hash, MadeUpNames names, KnownNames known) {
        this.hash = hash;
        this.names = names;
        this.times = new TimedNames(hash, names);
        this.ids = known.ids().isEmpty() ? null : known.ids();
        this.drawn = known.drawn();
    }

    /// Goes on to the next event, which may be begun more than once.
    public void next() {
        names.next();
    }

    /// Begins an event of a process: the numbers that it may have put into names, as [#word] hashes, 0 for
    /// none.
    public void begin(long selfWord, long parentWord) {
        self = selfWord;
        parent = parentWord;
        numbersLane = 0;
        namesLane = 0;
        portsLane = 0;
        names.begin();
    }

    /// Sum over the process numbers that were renamed since [#begin], as they were written.
    public long numbersLane() {
        return numbersLane;
    }

    /// The same for made-up names.
    public long namesLane() {
        return namesLane;
    }

    /// The same for ports.
    public long portsLane() {
        return portsLane;
    }

    /// From now on the port of that word counts as `canon`.
    public void renamePort(long word, long canon) {
        ports.put(word, canon);
    }

    /// Whether the port of that word was renamed.
    public boolean isRenamedPort(long word) {
        return !ports.isEmpty() && ports.get(word) != GenerationalCache.ABSENT;
    }

    /// The hash of a text, its words renamed. Numbers in a path below /proc are processes.
    public long text(byte[] array, int from, int length) {
        byte[] common = common(array, from, length);
        return common == null ? text(array, from, length, length) : text(common, 0, common.length, common.length);
    }

    /// A text in which what this side drew, and times in names of what was created, stand for what they count as; null
    /// if there are none.
    private byte @Nullable [] common(byte[] array, int from, int length) {
        byte[] form = drawn.recordedForm(array, from, length);
        if (form == null) {
            return timeless(array, from, length);
        }
        namesLane += word(array, from, from + length);
        byte[] timeless = timeless(form, 0, form.length);
        return timeless == null ? form : timeless;
    }

    private byte @Nullable [] timeless(byte[] array, int from, int length) {
        byte[] timeless = times.standIns(array, from, length);
        namesLane += timeless == null ? 0 : times.replaced();
        return timeless;
    }

    /// The same, but made-up names beyond the first `renamed` octets stand for themselves.
    private long text(byte[] array, int from, int length, int renamed) {
        boolean proc = startsWith(array, from, length, PROC);
        int end = from + length;
        long total = length == 0 ? 1 : 2;
        joined = GenerationalCache.ABSENT;
        int at = from;
        while (at < end) {
            int begin = at;
            while (at < end && WORD[array[at] & 0xff]) {
                at++;
            }
            if (at > begin) {
                long word = word(array, begin, at);
                boolean number = proc && isNumber(array, begin, at) || isProcess(word);
                long id = ids == null ? GenerationalCache.ABSENT : id(ids, array, from, begin, at, end, word);
                if (id != GenerationalCache.ABSENT) {
                    joined = GenerationalCache.ABSENT;
                    total = hash.mix(total, id);
                } else {
                    total = number ? number(total, word) : word(total, word, begin - from < renamed);
                }
            }
            if (at < end) {
                joined = array[at] == '/' ? GenerationalCache.ABSENT : joined;
                total = hash.mix(total, array[at++] & 0xff | 0x100);
            }
        }
        return total;
    }

    private boolean isProcess(long word) {
        return word == self || word == parent;
    }

    private long number(long total, long word) {
        numbersLane += word;
        joined = GenerationalCache.ABSENT;
        return hash.mix(total, PROCESS_NUMBER);
    }

    /// What a word counts as that is an id, or part of one, or ends with one, and stands for another; or
    /// [GenerationalCache#ABSENT].
    private long id(StandingIds known, byte[] array, int from, int begin, int end, int textEnd, long word) {
        if (known.isFolder(this, array, from, begin, end, textEnd)) {
            return StandingIds.FOLDER;
        }
        if (StandingIds.mayBe(end - begin)) {
            return known.standIn(word);
        }
        int id = StandingIds.atEnd(array, begin, end);
        long standIn = id < 0 ? GenerationalCache.ABSENT : known.standIn(word(array, id, end));
        return standIn == GenerationalCache.ABSENT ? standIn : hash.mix(word(array, begin, id), standIn);
    }

    /// Words of one made-up name with other characters between them are one, wherever these characters are.
    private long word(long total, long word, boolean renamed) {
        long name = names.nameOf(word);
        if (name == GenerationalCache.ABSENT || !renamed) {
            joined = GenerationalCache.ABSENT;
            return hash.mix(total, port(word));
        }
        namesLane += word;
        if (name != joined) {
            joined = name;
            joinedTotal = hash.mix(total, names.standIn(name));
        }
        return joinedTotal;
    }

    private long port(long word) {
        long canon = ports.isEmpty() ? GenerationalCache.ABSENT : ports.get(word);
        if (canon == GenerationalCache.ABSENT) {
            return word;
        }
        portsLane += word;
        return canon;
    }

    /// The hash of one word.
    public long word(byte[] array, int from, int to) {
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

    /// The hash of the last name of a path, as a whole.
    public long lastName(Text path) {
        byte[] octets = path.toBytes();
        return word(octets, lastName(octets, 0, octets.length), octets.length);
    }

    /// The hash of a number as a word.
    public long word(long number) {
        byte[] digits = Long.toString(number).getBytes(StandardCharsets.US_ASCII);
        return word(digits, 0, digits.length);
    }

    /// Notes that a process created a path exclusively, and whether it keeps the thing to itself.
    public void created(byte[] array, int from, int length, long process, boolean keptToItself) {
        int end = from + length;
        int begin = lastName(array, from, end);
        long name = word(array, begin, end);
        if (names.mayBeMadeUp(name, process, keptToItself)) {
            long identity = names.create(name);
            eachWord(array, begin, end, word -> names.consider(word, name, identity));
        }
    }

    /// Notes that something was created at a path, in whose name there may be times.
    ///
    /// @param when they may be from
    /// @param canon what they count as then
    /// @return whether there are
    public boolean createdIn(byte[] array, int from, int length, Window when, long canon) {
        int end = from + length;
        return times.learn(array, lastName(array, from, end), end, when, canon);
    }

    /// Notes that a process removed or renamed what was at a path.
    public void gone(byte[] array, int from, int length, long process) {
        int end = from + length;
        names.gone(word(array, lastName(array, from, end), end), process);
    }

    /// The hash of the path under which something is to stay: its last name stands for itself, and its words mean
    /// something, unless that very name was made up.
    public long kept(byte[] array, int from, int length) {
        byte[] common = common(array, from, length);
        return common == null ? keptName(array, from, length) : keptName(common, 0, common.length);
    }

    private long keptName(byte[] array, int from, int length) {
        int end = from + length;
        int begin = lastName(array, from, end);
        if (names.isMadeUp(word(array, begin, end))) {
            return text(array, from, length, length);
        }
        eachWord(array, begin, end, names::kept);
        return text(array, from, length, begin - from);
    }

    private void eachWord(byte[] array, int from, int end, LongConsumer action) {
        int at = from;
        while (at < end) {
            int begin = at;
            while (at < end && WORD[array[at] & 0xff]) {
                at++;
            }
            if (at > begin) {
                long word = word(array, begin, at);
                if (!isProcess(word)) {
                    action.accept(word);
                }
            }
            at++;
        }
    }

    /// Where the last name of a path begins.
    private static int lastName(byte[] array, int from, int end) {
        int name = end;
        while (name > from && array[name - 1] != '/') {
            name--;
        }
        return name;
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
