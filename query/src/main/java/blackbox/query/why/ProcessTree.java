package blackbox.query.why;

import blackbox.schemas.view.EventView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Who started whom, from the forks that the kernel told, so that it does not change when a parent ends and
/// its children are given to another. Where no fork was told it is the parent by number at the first event,
/// if such a process had started before. Owned by one thread.
final class ProcessTree {

    static final int PROCESSES_MAX = 250_000;

    /// No more of a lineage is walked.
    private static final int DEPTH_MAX = 1024;

    private final Map<ProcessId, Node> processes = new HashMap<>();
    private long unkept;
    private boolean joined;

    private static final class Node {
        @Nullable
        ProcessId parent;

        long ppid;
        long forkNs = Long.MAX_VALUE;
        long exitNs = Long.MAX_VALUE;
    }

    /// Takes the next event of a process.
    void see(EventView event) {
        ProcessId id = event.process();
        if (id == null) {
            return;
        }
        Node node = processes.get(id);
        if (node == null) {
            if (processes.size() >= PROCESSES_MAX) {
                unkept++;
                return;
            }
            node = new Node();
            Long ppid = event.ppid();
            node.ppid = ppid == null ? 0 : ppid;
            processes.put(id, node);
        }
        if (event instanceof ProcessView.Fork fork && node.forkNs == Long.MAX_VALUE) {
            node.parent = fork.parent();
            node.forkNs = fork.atNs();
        } else if (event instanceof ProcessView.Exit) {
            node.exitNs = event.atNs();
        }
    }

    /// Joins those of whom no fork was told to their parents. To be called once, after all events.
    void join() {
        joined = true;
        Map<Long, TreeMap<Long, ProcessId>> byPid = new HashMap<>();
        processes
                .keySet()
                .forEach(id ->
                        byPid.computeIfAbsent(id.pid(), _ -> new TreeMap<>()).put(id.startNs(), id));
        processes.forEach((id, node) -> {
            TreeMap<Long, ProcessId> parents = byPid.get(node.ppid);
            if (node.parent == null && parents != null && node.ppid != id.pid()) {
                Map.Entry<Long, ProcessId> parent = parents.floorEntry(id.startNs());
                node.parent = parent == null ? null : parent.getValue();
            }
        });
    }

    /// The process, its parent, and so on.
    List<ProcessId> lineage(ProcessId of) {
        if (!joined) {
            throw new IllegalStateException("not all processes were seen yet");
        }
        var lineage = new ArrayList<ProcessId>();
        ProcessId id = of;
        while (id != null && lineage.size() < DEPTH_MAX) {
            lineage.add(id);
            Node node = processes.get(id);
            id = node == null ? null : node.parent;
        }
        return lineage;
    }

    /// Their nearest common ancestor, which may be one of them; null if none is known.
    @Nullable
    ProcessId common(ProcessId one, ProcessId other) {
        Set<ProcessId> others = new HashSet<>(lineage(other));
        return lineage(one).stream().filter(others::contains).findFirst().orElse(null);
    }

    /// When it was forked, or the end of time if that is not known.
    long forkNs(ProcessId id) {
        Node node = processes.get(id);
        return node == null ? Long.MAX_VALUE : node.forkNs;
    }

    /// When it ended, or the end of time if that is not known.
    long exitNs(ProcessId id) {
        Node node = processes.get(id);
        return node == null ? Long.MAX_VALUE : node.exitNs;
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only the first " + PROCESSES_MAX + " processes are followed; " + unkept
                        + " events are of others");
    }
}
