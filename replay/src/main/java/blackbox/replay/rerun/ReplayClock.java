package blackbox.replay.rerun;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// The host's clock, set back to a recorded moment from which it runs on.
final class ReplayClock implements InstantSource {
    private final InstantSource host;
    private volatile Duration offset = Duration.ZERO;

    ReplayClock(InstantSource host) {
        this.host = host;
    }

    /// Makes it show `moment` now; returns by how much that moved it.
    Duration set(Instant moment) {
        Duration moved = Duration.between(instant(), moment);
        offset = offset.plus(moved);
        return moved;
    }

    /// Sets it forward, or back where it is negative. Not to be called concurrently with itself or [#set].
    void forward(Duration by) {
        Duration before = offset;
        offset = before.plus(by);
    }

    @Override
    public Instant instant() {
        return host.instant().plus(offset);
    }
}
