package blackbox.replay.compare;

import blackbox.replay.content.DrawnWords;
import blackbox.replay.content.OwnIds;
import blackbox.schemas.row.Text;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Ids that agents draw for the entries of their own records of a session, which each execution draws anew: in these
/// records, and only where such an id is the value of a JSON field in which they write one, a word stands for the
/// recorded one of the same form, each for one and in all of them. What stands for a recorded id is nowhere in the
/// recorded records, nor is the recorded id in the others: so entries that were swapped differ, and so do references to
/// another entry.
///
/// Owned by one thread.
final class TranscriptIds implements DrawnWords {
    /// Its name in a verdict.
    static final String RULE =
            "transcript-id: ids of entries in agents' own records of their sessions (Claude Code's and"
                    + " pi's) stand for each other, each for one and in all of these files; times in them may be from any"
                    + " moment since their program began";

    /// What is tied after that differs.
    private static final int IDS_MAX = 1 << 20;

    private static final int WORD_MAX = 64;
    private static final Pattern FILE = Pattern.compile("^(?:/root|/home/[^/]+)/(?:"
            + "\\.claude/(?:projects/[^/]+/|todos/)[^/]+\\.jsonl?|\\.claude/history\\.jsonl|\\.claude\\.json"
            + "|\\.pi/agent/sessions/[^/]+/[^/]+\\.jsonl)$");
    private static final Pattern FIELD = Pattern.compile(
            "\"(?:id|parentId|uuid|parentUuid|logicalParentUuid|leafUuid|messageId|promptId|sessionId)\""
                    + "[ \\t]*:[ \\t]*\"$");
    private static final Pattern FORM = Pattern.compile(
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{8," + WORD_MAX + "}");

    private final OwnIds drawn;
    private final Map<String, String> actualOf = new HashMap<>();
    private final Map<String, String> recordedOf = new HashMap<>();
    private final Set<String> recordedWords = new HashSet<>();
    private final Set<String> actualWords = new HashSet<>();
    private boolean applies;
    private Map.@Nullable Entry<String, String> first;

    /// @param drawn ids that stand for each other already
    TranscriptIds(OwnIds drawn) {
        this.drawn = drawn;
    }

    /// Whether a file is an agent's own record of its session.
    static boolean are(Text path) {
        return FILE.matcher(path.toString()).matches();
    }

    /// Such a file, which is read for its words.
    InputStream recorded(InputStream file) {
        applies = true;
        return new Words(file, recordedWords);
    }

    /// The same of the other side.
    InputStream actual(InputStream file) {
        return new Words(file, actualWords);
    }

    /// Whether such files were compared that are not equal.
    boolean applies() {
        return applies;
    }

    /// How many stand for each other.
    int count() {
        return actualOf.size();
    }

    /// Says how many there are.
    void say(List<String> notCompared) {
        Map.Entry<String, String> one = first;
        if (one != null) {
            notCompared.add("ids of entries in agents' own records of their sessions, each for one: " + count() + " ("
                    + one.getKey() + " for " + one.getValue() + ")");
        }
    }

    /// A recorded id and what stood for it though one of them is also on the other side, or though it is not known
    /// whether it is; null if there is none. To be asked when all files were compared.
    Map.@Nullable Entry<String, String> refuted() {
        boolean full = recordedWords.size() >= IDS_MAX || actualWords.size() >= IDS_MAX;
        for (Map.Entry<String, String> each : actualOf.entrySet()) {
            if (full || actualWords.contains(each.getKey()) || recordedWords.contains(each.getValue())) {
                return each;
            }
        }
        return null;
    }

    @Override
    public boolean standFor(String before, String recorded, String actual) {
        String known = actualOf.get(recorded);
        if (known != null) {
            return known.equals(actual);
        }
        boolean free = !recordedOf.containsKey(actual)
                && !actualOf.containsKey(actual)
                && !recordedOf.containsKey(recorded)
                && !drawn.has(recorded)
                && !drawn.has(actual)
                && actualOf.size() < IDS_MAX;
        if (!free || !FIELD.matcher(before).find() || !isSameForm(recorded, actual)) {
            return false;
        }
        actualOf.put(recorded, actual);
        recordedOf.put(actual, recorded);
        first = first == null ? Map.entry(recorded, actual) : first;
        return true;
    }

    /// Whether both look drawn, and not like the next number of a list.
    static boolean isSameForm(String recorded, String actual) {
        if (recorded.length() != actual.length()
                || !FORM.matcher(recorded).matches()
                || !FORM.matcher(actual).matches()) {
            return false;
        }
        int differ = 0;
        for (int i = 0; i < recorded.length(); i++) {
            char one = recorded.charAt(i);
            char other = actual.charAt(i);
            if ((one == '-') != (other == '-')) {
                return false;
            }
            differ += one == other ? 0 : 1;
        }
        return 3 * differ >= recorded.length();
    }

    /// Collects words of that form, at most [#IDS_MAX].
    private static final class Words extends FilterInputStream {
        private final Set<String> found;
        private final StringBuilder word = new StringBuilder();

        Words(InputStream in, Set<String> found) {
            super(in);
            this.found = found;
        }

        @Override
        public int read() throws IOException {
            int octet = super.read();
            see(octet);
            return octet;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = super.read(into, offset, length);
            for (int i = 0; i < count; i++) {
                see(into[offset + i]);
            }
            if (count < 0) {
                see(-1);
            }
            return count;
        }

        @Override
        public boolean markSupported() {
            return false;
        }

        private void see(int octet) {
            boolean ofWord = octet >= 'a' && octet <= 'z'
                    || octet >= 'A' && octet <= 'Z'
                    || octet >= '0' && octet <= '9'
                    || octet == '-'
                    || octet == '_';
            if (ofWord) {
                if (word.length() <= WORD_MAX) {
                    word.append((char) octet);
                }
                return;
            }
            if (found.size() < IDS_MAX && FORM.matcher(word).matches()) {
                found.add(word.toString());
            }
            word.setLength(0);
        }
    }
}
