package blackbox.ingest.table;

import blackbox.ingest.check.ChainState;
import blackbox.schemas.RunId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// What ingest must know to resume after its last commit: where each partition of the topic continues,
/// which is in the commit's own snapshot summary, and the state of each open run, which is in the footer of
/// the run's last data file. Immutable.
///
/// @param offsets next offset by source, a source being `<cluster id>/<topic>/<partition>`
/// @param runs of a commit, the states of those runs that it carries on or stops; as read from the table,
///     those that a version before 3 left in the summary, which the next commit moves
public record CommitState(Map<String, Long> offsets, Map<RunId, ChainState> runs) {

    /// Of an empty table.
    public static final CommitState EMPTY = new CommitState(Map.of(), Map.of());

    private static final String VERSION_KEY = "blackbox.state.version";
    private static final String VERSION = "3";

    /// Also read: they have the runs in the summary, and those of the first do not say who signs next, see
    /// [ChainState#parse].
    private static final Set<String> VERSIONS_BEFORE = Set.of("1", "2");

    private static final String OFFSET_PREFIX = "blackbox.offset.";
    private static final String RUN_PREFIX = "blackbox.run.";

    public CommitState {
        offsets = Map.copyOf(offsets);
        runs = Map.copyOf(runs);
    }

    /// As snapshot summary properties, without the runs.
    Map<String, String> properties() {
        var properties = new TreeMap<String, String>();
        properties.put(VERSION_KEY, VERSION);
        offsets.forEach((source, offset) -> properties.put(OFFSET_PREFIX + source, Long.toString(offset)));
        return properties;
    }

    /// Whether a snapshot's summary holds one: another engine's has none.
    static boolean isIn(Map<String, String> summary) {
        return summary.containsKey(VERSION_KEY);
    }

    /// Reads a snapshot's summary.
    ///
    /// @throws IllegalArgumentException when it holds no state of this version
    static CommitState of(Map<String, String> summary) {
        String version = summary.get(VERSION_KEY);
        if (version == null || !VERSION.equals(version) && !VERSIONS_BEFORE.contains(version)) {
            throw new IllegalArgumentException("the snapshot holds no version " + VERSION + " state of ingest");
        }
        var offsets = new HashMap<String, Long>();
        var runs = new HashMap<RunId, ChainState>();
        summary.forEach((key, value) -> {
            if (key.startsWith(OFFSET_PREFIX)) {
                offsets.put(key.substring(OFFSET_PREFIX.length()), Long.parseLong(value));
            } else if (key.startsWith(RUN_PREFIX)) {
                runs.put(new RunId(key.substring(RUN_PREFIX.length())), ChainState.parse(value));
            }
        });
        return new CommitState(offsets, runs);
    }
}
