package blackbox.ingest.service;

import blackbox.ingest.service.IngestService.Awaited;
import blackbox.schemas.RunId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// How far each run is in the table, and who waits for it. Updated by the writer's thread, read by any.
final class Watermarks {

    private final Map<RunId, Long> committed = new HashMap<>();
    private final Set<RunId> stopped = ConcurrentHashMap.newKeySet();
    private final Map<RunId, Long> wanted = new ConcurrentHashMap<>();
    private boolean ended;

    synchronized void committed(Map<RunId, Long> lengths, Set<RunId> stoppedRuns) {
        committed.putAll(lengths);
        stopped.addAll(stoppedRuns);
        notifyAll();
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
        }
    }
}
