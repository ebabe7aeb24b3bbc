package blackbox.ingest.service;

import blackbox.schemas.RunId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/// When to commit: a second after the first row of a young run, up to ten for an old one, at once when a run
/// closes or someone waits, and always when many rows are pending. Owned by the writer's thread; times are
/// `System.nanoTime`.
final class CommitPacing {

    private static final long INTERVAL_NS_MIN = Duration.ofSeconds(1).toNanos();
    private static final long INTERVAL_NS_MAX = Duration.ofSeconds(10).toNanos();

    /// A run waits for this part of its age.
    private static final long AGE_PARTS = 10;

    private final long rowsMax;
    private final Map<RunId, Long> firstSealedAtNs = new HashMap<>();
    private boolean pending;
    private long dueNs;

    CommitPacing(long rowsMax) {
        this.rowsMax = rowsMax;
    }

    /// Rows of `run` are pending that were sealed at `sealedAtNs` since the epoch.
    void rows(RunId run, long sealedAtNs, long nowNs) {
        long ageNs = sealedAtNs - firstSealedAtNs.computeIfAbsent(run, _ -> sealedAtNs);
        by(nowNs + Math.clamp(ageNs / AGE_PARTS, INTERVAL_NS_MIN, INTERVAL_NS_MAX));
    }

    /// Something is pending that no one waits for.
    void later(long nowNs) {
        by(nowNs + INTERVAL_NS_MAX);
    }

    /// Something is pending that should not wait.
    void now(long nowNs) {
        by(nowNs);
    }

    private void by(long ns) {
        if (!pending || ns - dueNs < 0) {
            dueNs = ns;
            pending = true;
        }
    }

    boolean isPending() {
        return pending;
    }

    boolean isDue(long nowNs, long rows) {
        return pending && (nowNs - dueNs >= 0 || rows >= rowsMax);
    }

    /// How long to wait for more before a commit is due, at most `maxNs`.
    long waitNs(long nowNs, long maxNs) {
        return pending ? Math.clamp(dueNs - nowNs, 0, maxNs) : maxNs;
    }

    void committed() {
        pending = false;
    }

    void forget(RunId run) {
        firstSealedAtNs.remove(run);
    }
}
