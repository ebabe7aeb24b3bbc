package blackbox.vm;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Notices when a machine makes no progress: a replay that has lost its place in the log does not fail but waits
/// forever. It reads nothing itself: the owner reads the counter, when it likes, and passes it in. One thread.
public final class Watchdog {
    private final Duration limit;
    private final LongSupplier nanoTime;
    private final String unit;
    private long last = Long.MIN_VALUE;
    private long movedAt;

    /// @param limit how long the counter may stay the same
    /// @param unit of what it counts, for the message: "instruction"
    /// @param nanoTime a clock like [System#nanoTime]
    public Watchdog(Duration limit, String unit, LongSupplier nanoTime) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("a watchdog needs a limit above zero, not " + limit);
        }
        this.limit = limit;
        this.unit = unit;
        this.nanoTime = nanoTime;
        this.movedAt = nanoTime.getAsLong();
    }

    /// Takes a reading.
    ///
    /// @return a sentence if the counter has not changed for as long as the limit, otherwise null
    public @Nullable String see(long counter) {
        long now = nanoTime.getAsLong();
        if (counter != last) {
            last = counter;
            movedAt = now;
            return null;
        }
        return overdue(now);
    }

    /// Records a missing reading: the counter could not be read.
    ///
    /// @return a sentence if that has lasted as long as the limit, otherwise null
    public @Nullable String miss() {
        return overdue(nanoTime.getAsLong());
    }

    private @Nullable String overdue(long now) {
        Duration still = Duration.ofNanos(now - movedAt);
        if (still.compareTo(limit) < 0) {
            return null;
        }
        String where = last == Long.MIN_VALUE ? "from the start" : "at " + unit + " " + last;
        return "it has made no progress for " + still.toSeconds() + " s, " + where;
    }
}
