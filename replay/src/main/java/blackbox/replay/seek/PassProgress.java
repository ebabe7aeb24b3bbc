package blackbox.replay.seek;

import blackbox.schemas.Progress;
import java.time.Duration;
import java.util.function.LongSupplier;

/// Tells people, at the first checkpoint and then from time to time, how far a pass is on its way, and about how long
/// the rest of the way takes.
final class PassProgress {
    private static final Duration SAY_EVERY = Duration.ofSeconds(3);

    private final Progress progress;
    private final LongSupplier nanoTime;
    private final long began;
    private final long startedNs;
    private long saidNs;

    /// @param began the position at which it starts now
    /// @param nanoTime a clock like [System#nanoTime]
    PassProgress(Progress progress, long began, LongSupplier nanoTime) {
        this.progress = progress;
        this.began = began;
        this.nanoTime = nanoTime;
        this.startedNs = nanoTime.getAsLong();
        this.saidNs = startedNs - SAY_EVERY.toNanos();
    }

    /// Takes note of where it is.
    ///
    /// @param goal where it goes
    void at(long position, long goal) {
        long nowNs = nanoTime.getAsLong();
        if (nowNs - saidNs < SAY_EVERY.toNanos() || position <= began || goal <= 0) {
            return;
        }
        saidNs = nowNs;
        long left = Math.max(0, goal - position);
        long leftNs = (long) ((double) (nowNs - startedNs) / (position - began) * left);
        progress.say(100 * (goal - left) / goal + " % of the way indexed, about "
                + Duration.ofNanos(leftNs).toSeconds() + " s left");
    }
}
