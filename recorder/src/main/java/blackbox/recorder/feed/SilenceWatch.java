package blackbox.recorder.feed;

import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Notices when the guest's tracer goes quiet while its VM runs: its heartbeat comes every second, so a
/// longer silence means that the tracer was stopped, or that the guest as a whole hangs. Its length is
/// measured with a monotonic clock, which nobody can set. Owned by one thread.
final class SilenceWatch {

    /// A heartbeat may be late on a busy machine; a silence of this length is beyond doubt.
    static final Duration QUIET_MAX = Duration.ofSeconds(5);

    /// The same for a guest whose clock runs at a pace of its own: while it computes, the second between two
    /// of its heartbeats may take the host seven.
    static final Duration QUIET_OWN_PACE_MAX = Duration.ofSeconds(30);

    /// What one look adds at most to how long it was quiet.
    private static final long LOOK_NS_MAX = 2_000_000_000L;

    private final Duration quietMax;
    private long lastHeardNs;
    private long changedAt;
    private boolean silent;
    private long lookedAt;
    private long quietNs;

    /// @param nowNs the host's time, nanoseconds since 1970
    /// @param steadyNs like [System#nanoTime]
    SilenceWatch(HostClock.Pace pace, long nowNs, long steadyNs) {
        this.quietMax = pace == HostClock.Pace.OWN ? QUIET_OWN_PACE_MAX : QUIET_MAX;
        this.lastHeardNs = nowNs;
        this.changedAt = steadyNs;
        this.lookedAt = steadyNs;
    }

    /// Whether it has been quiet for so long, while somebody looked: what was heard while this process stood still,
    /// because it was stopped or waited for a disk, is only read afterwards.
    boolean isQuietFor(Duration most) {
        return quietNs > Math.max(most.toNanos(), quietMax.toNanos());
    }

    /// Lets the time since the last look not count: the guest was stopped from outside.
    void pass(long steadyNs) {
        changedAt += steadyNs - lookedAt;
        lookedAt = steadyNs;
    }

    /// Checks the time of the last heartbeat, 0 before the first; returns a finding when a silence begins or
    /// ends.
    @Nullable
    Event look(long heardNs, long nowNs, long steadyNs) {
        if (heardNs != 0 && heardNs != lastHeardNs) {
            lastHeardNs = heardNs;
            changedAt = steadyNs;
            quietNs = 0;
        }
        quietNs += Math.min(steadyNs - lookedAt, LOOK_NS_MAX);
        lookedAt = steadyNs;
        boolean quiet = steadyNs - changedAt > quietMax.toNanos();
        if (quiet == silent) {
            return null;
        }
        silent = quiet;
        return new Event.RecorderFinding(
                EventHeader.host(nowNs),
                quiet ? new FindingDetail.GuestSilent(lastHeardNs) : new FindingDetail.GuestBack(lastHeardNs));
    }
}
