package blackbox.recorder.guest;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/// Maps the guest's boot clock to the host's wall clock, by an offset that was measured from the host. A time
/// that the guest claims in the future is mapped to now. Safe to share.
public final class HostClock {

    private final InstantSource host;
    private final Pace pace;
    private volatile long offsetNs;
    private long heardNs;

    /// How the guest's clock runs compared to the host's.
    public enum Pace {
        /// Second for second.
        SHARED,
        /// By the instructions that it executes: it falls behind, and its own readings correct the mapping.
        OWN
    }

    /// For a guest whose clock keeps the host's pace.
    public HostClock(InstantSource host) {
        this(host, Pace.SHARED);
    }

    public HostClock(InstantSource host, Pace pace) {
        this.host = host;
        this.pace = pace;
    }

    /// Reports that the guest's boot clock has reached `ktimeNs` now, as learned from a heartbeat or
    /// otherwise. A clock that goes back, or an impossible one, is ignored.
    public synchronized void heard(long ktimeNs) {
        if (pace == Pace.OWN && ktimeNs >= heardNs) {
            heardNs = ktimeNs;
            offsetNs = Math.max(offsetNs, nowNs() - ktimeNs);
        }
    }

    /// How the guest's clock runs compared to the host's.
    public Pace pace() {
        return pace;
    }

    /// Reports that the guest's boot clock showed `ktimeNs` when the host's showed `hostNs`.
    public void align(long ktimeNs, long hostNs) {
        offsetNs = hostNs - ktimeNs;
    }

    /// Reports that the host's clock was set forward by `by`, or back. Not to be called concurrently with
    /// itself or [#align].
    public void shift(Duration by) {
        long before = offsetNs;
        offsetNs = before + by.toNanos();
    }

    /// The host's time for the guest's, never later than now.
    public long toHostNs(long ktimeNs) {
        long now = nowNs();
        // The guest's number may be anything: one that overflows counts as later than now.
        return ktimeNs > now - offsetNs ? now : offsetNs + Math.max(ktimeNs, -offsetNs);
    }

    /// Now, in nanoseconds since the epoch.
    public long nowNs() {
        Instant now = host.instant();
        return Math.addExact(Math.multiplyExact(now.getEpochSecond(), 1_000_000_000L), now.getNano());
    }
}
