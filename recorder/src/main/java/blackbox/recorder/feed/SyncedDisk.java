package blackbox.recorder.feed;

import blackbox.recorder.guest.HostClock;

/// Up to when all that the guest wrote to its disk is there, on the host's clock, in which events have their
/// times. Safe to share.
///
/// A clock of its own pace is mapped by an offset that only grows. So a time of the guest's is mapped here by
/// the offset of one report earlier, which is none that was found after that time: no event of a later write
/// has an earlier time.
public final class SyncedDisk {

    private final HostClock clock;
    private long offsetNs;
    private volatile long syncedNs;

    public SyncedDisk(HostClock clock) {
        this.clock = clock;
        this.offsetNs = clock.toHostNs(0);
    }

    /// Receives from the guest up to when its disk has everything.
    ///
    /// @param bootNs on its boot clock
    public synchronized void reached(long bootNs) {
        // A number of the guest's that overflows counts as none.
        syncedNs = Math.max(syncedNs, Math.min(clock.toHostNs(bootNs), bootNs + offsetNs));
        offsetNs = clock.toHostNs(0);
    }

    /// Nanoseconds since 1970; 0 while the guest has said nothing.
    public long syncedNs() {
        return syncedNs;
    }
}
