package blackbox.replay.compare;

import blackbox.replay.content.DrawnWords;
import blackbox.schemas.row.Text;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Ids that agents draw for the entries of their own records of a session, which each execution draws anew: in these
/// records, and only where such an id is the value of a JSON field that names one, a word stands for the recorded one
/// of the same form, each for one and in all of them. What stands for a recorded id can be no recorded id itself, so
/// entries that were swapped differ, and so do references to other entries.
///
/// Owned by one thread.
final class TranscriptIds implements DrawnWords {
    /// Its name in a verdict.
    static final String RULE = "transcript-id: ids of entries in agents' own records of their sessions (in ~/.claude,"
            + " ~/.codex, ~/.gemini and ~/.pi) stand for each other, each for one and in all of these files; so do times in them that lie"
            + " between their program's start and when they were written";

    /// What is tied after that differs.
    private static final int IDS_MAX = 1 << 20;

    private static final Pattern FILE = Pattern.compile("/\\.(claude|codex|gemini|pi)/.+\\.jsonl?|/\\.claude\\.json$");
    private static final Pattern FIELD =
            Pattern.compile("\"([A-Za-z_-]*(?:Id|_id|-id|Uuid|_uuid)|id|uuid)\"[ \\t]*:[ \\t]*\"$");
    private static final Pattern FORM =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{8,64}");

    private final Map<String, String> actualOf = new HashMap<>();
    private final Map<String, String> recordedOf = new HashMap<>();
    private Map.@Nullable Entry<String, String> first;

    /// Whether a file is an agent's own record of its session.
    static boolean are(Text path) {
        return FILE.matcher(path.toString()).find();
    }

    /// How many stand for each other so far.
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

    @Override
    public boolean standFor(String before, String recorded, String actual) {
        String known = actualOf.get(recorded);
        if (known != null) {
            return known.equals(actual);
        }
        boolean free = !recordedOf.containsKey(actual)
                && !actualOf.containsKey(actual)
                && !recordedOf.containsKey(recorded)
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
    private static boolean isSameForm(String recorded, String actual) {
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
}
