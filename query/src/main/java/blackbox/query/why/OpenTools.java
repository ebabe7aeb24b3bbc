package blackbox.query.why;

import blackbox.schemas.view.ProcessId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Which tools were being used at a time, by the process below which they ran. Those whose results never
/// came are open until the end and come last. Owned by one thread.
final class OpenTools {

    /// Of more at once, some are left out.
    static final int OPEN_MAX = 64;

    /// Of those without a result, which stay open, the latest are taken.
    private static final int UNENDED_MAX = 8;

    private final Map<ProcessId, Row> byRoot = new HashMap<>();
    private final Row all;
    private final Tolerance tolerance;

    /// Windows by their begin, with the latest end of all up to there.
    private record Row(List<ToolUse> ended, long[] latestNs, List<ToolUse> unended) {
        static Row of(List<ToolUse> tools) {
            List<ToolUse> ended = tools.stream()
                    .filter(tool -> tool.window.end() == Window.End.RESULT)
                    .sorted(Comparator.comparingLong(tool -> tool.window.fromNs()))
                    .toList();
            var latest = new long[ended.size()];
            for (int i = 0; i < latest.length; i++) {
                long to = ended.get(i).window.toNs();
                latest[i] = i == 0 ? to : Math.max(latest[i - 1], to);
            }
            List<ToolUse> unended = tools.stream()
                    .filter(tool -> tool.window.end() == Window.End.NO_RESULT)
                    .sorted(Comparator.comparingLong((ToolUse tool) -> tool.window.fromNs())
                            .reversed())
                    .toList();
            return new Row(ended, latest, unended);
        }

        List<ToolUse> at(long atNs, Tolerance tolerance) {
            var open = new ArrayList<ToolUse>();
            for (int i = begun(atNs + tolerance.earlyNs()) - 1;
                    i >= 0 && latestNs[i] >= atNs - tolerance.lateNs();
                    i--) {
                if (ended.get(i).window.holds(atNs, tolerance) && open.size() < OPEN_MAX) {
                    open.addFirst(ended.get(i));
                }
            }
            unended.stream()
                    .filter(tool -> tool.window.holds(atNs, tolerance))
                    .limit(UNENDED_MAX)
                    .forEach(open::add);
            return open;
        }

        /// How many have begun by then.
        private int begun(long atNs) {
            int low = 0;
            int high = ended.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (ended.get(middle).window.fromNs() <= atNs) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    OpenTools(List<ToolUse> tools, Tolerance tolerance) {
        Map<ProcessId, List<ToolUse>> rooted = new HashMap<>();
        for (ToolUse tool : tools) {
            if (tool.root != null) {
                rooted.computeIfAbsent(tool.root, _ -> new ArrayList<>()).add(tool);
            }
        }
        rooted.forEach((root, of) -> byRoot.put(root, Row.of(of)));
        this.all = Row.of(tools);
        this.tolerance = tolerance;
    }

    /// Whether tools ran below that process.
    boolean isRoot(ProcessId process) {
        return byRoot.containsKey(process);
    }

    /// Those that were being used below `root`, or anywhere if it is null.
    List<ToolUse> at(@Nullable ProcessId root, long atNs) {
        Row row = root == null ? all : byRoot.get(root);
        return row == null ? List.of() : row.at(atNs, tolerance);
    }
}
