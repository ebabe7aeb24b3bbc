package blackbox.recorder.guest;

import blackbox.evidence.text.Timestamps;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;

/// Maps the guest's boot clock to the host's wall clock, by an offset that was measured from the host. A time
/// that the guest claims in the future is mapped to now. Safe to share.
public final class HostClock {

    private static final int STEPS_MAX = 256;

    private final InstantSource host;
    private final Pace pace;
    private volatile Offsets offsets = Offsets.of(0);
    private long heardNs;

    /// What is added to the guest's boot clock, from when on: the first for all times before the second's begin.
    private record Offsets(long[] fromNs, long[] offsetNs) {
        static Offsets of(long offset) {
            return new Offsets(new long[] {Long.MIN_VALUE}, new long[] {offset});
        }

        long now() {
            return offsetNs[offsetNs.length - 1];
        }

        long at(long ktimeNs) {
            int i = fromNs.length - 1;
            while (i > 0 && ktimeNs < fromNs[i]) {
                i--;
            }
            return offsetNs[i];
        }

        Offsets forward(long ktimeNs, long byNs) {
            int skipped = fromNs.length == STEPS_MAX ? 1 : 0;
            int length = fromNs.length - skipped;
            long[] from = Arrays.copyOfRange(fromNs, skipped, skipped + length + 1);
            long[] offset = Arrays.copyOfRange(offsetNs, skipped, skipped + length + 1);
            from[length] = Math.max(ktimeNs, from[length - 1]);
            offset[length] = offset[length - 1] + byNs;
            return new Offsets(from, offset);
        }
    }

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
            long now = nowNs();
            // One that cannot be yet must not make all that follow it look as if the clock had gone back.
            heardNs = Math.min(ktimeNs, now - offsets.now());
            offsets = Offsets.of(Math.max(offsets.now(), now - ktimeNs));
        }
    }

    /// How the guest's clock runs compared to the host's.
    public Pace pace() {
        return pace;
    }

    /// Reports that the guest's boot clock showed `ktimeNs` when the host's showed `hostNs`.
    public void align(long ktimeNs, long hostNs) {
        offsets = Offsets.of(hostNs - ktimeNs);
    }

    /// Reports that the host's clock was set forward by `by`, or back. Not to be called concurrently with
    /// itself or [#align].
    public void shift(Duration by) {
        offsets = Offsets.of(offsets.now() + by.toNanos());
    }

    /// Reports that the guest's wall clock was set forward by `byNs` when its boot clock showed `ktimeNs`: later times
    /// are mapped so. Not to be called concurrently with itself, [#align] or [#shift].
    public void forward(long ktimeNs, long byNs) {
        offsets = offsets.forward(ktimeNs, byNs);
    }

    /// The host's time for the guest's, never later than now.
    public long toHostNs(long ktimeNs) {
        long now = nowNs();
        long offsetNs = offsets.at(ktimeNs);
        // The guest's number may be anything: one that overflows counts as later than now.
        return ktimeNs > now - offsetNs ? now : offsetNs + Math.max(ktimeNs, -offsetNs);
    }

    /// What the guest's boot clock shows now, if it runs as the host's does.
    public long bootNs() {
        return nowNs() - offsets.now();
    }

    /// Now, in nanoseconds since the epoch.
    public long nowNs() {
        return Timestamps.nanos(host.instant());
    }
}
