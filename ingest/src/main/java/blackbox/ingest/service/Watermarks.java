package blackbox.ingest.service;

import blackbox.ingest.service.IngestService.Awaited;
import blackbox.schemas.RunId;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// How far those runs are in the table that somebody waits for. Updated by the writer's thread, read by any.
final class Watermarks {

    private final Map<RunId, Long> committed = new HashMap<>();
    private final Set<RunId> stopped = ConcurrentHashMap.newKeySet();
    private final Map<RunId, Long> wanted = new ConcurrentHashMap<>();
    private boolean ended;

    synchronized void committed(Map<RunId, Long> lengths, Set<RunId> stoppedRuns) {
        lengths.forEach((run, end) -> {
            if (wanted.containsKey(run)) {
                committed.merge(run, end, Math::max);
            }
        });
        stopped.addAll(stoppedRuns);
        notifyAll();
    }

    /// The runs that somebody waits for and of which it was not said how far they are.
    Set<RunId> unknown() {
        if (wanted.isEmpty()) {
            return Set.of();
        }
        synchronized (this) {
            var unknown = new HashSet<>(wanted.keySet());
            unknown.removeAll(committed.keySet());
            return unknown;
        }
    }

    synchronized void end() {
        ended = true;
        notifyAll();
    }

    /// Whether someone waits for the run to get as far as `endIndex` or less far.
    boolean isWanted(RunId run, long endIndex) {
        Long target = wanted.get(run);
        return target != null && endIndex >= target;
    }

    synchronized Awaited await(RunId run, long endIndex, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        wanted.merge(run, endIndex, Math::min);
        try {
            while (committed.getOrDefault(run, 0L) < endIndex) {
                long leftMs = (deadline - System.nanoTime()) / 1_000_000;
                if (stopped.contains(run)) {
                    return Awaited.STOPPED;
                }
                if (leftMs <= 0 || ended) {
                    return Awaited.TIMED_OUT;
                }
                wait(leftMs);
            }
            return Awaited.COMMITTED;
        } finally {
            wanted.remove(run, endIndex);
            if (!wanted.containsKey(run)) {
                committed.remove(run);
            }
        }
    }
}
