package blackbox.replay.seek;

import blackbox.replay.seek.SeekIndex.Place;
import org.jspecify.annotations.Nullable;

/// Where to look for a frame between two whose places are known. The guest's clock goes on by one step with
/// each instruction and by more while the guest is idle, so a frame's time bounds its instruction from both sides:
/// exactly where the guest was not idle between them.
final class Approach {
    /// What one instruction adds to the guest's clock.
    private static final long INSTRUCTION_NS = 4;
    /// From a frame's time to the instruction that emits it are some hundreds or thousands.
    private static final long SLACK = 4_000;
    private static final int WIDER = 8;

    private final long ktimeNs;
    private long slack = SLACK;

    /// @param ktimeNs the time of the frame that is looked for
    Approach(long ktimeNs) {
        this.ktimeNs = ktimeNs;
    }

    /// The instruction to run to, from where the next frame is met. It is `below`'s where a jump gains nothing: the
    /// frames that follow it are met one by one then.
    ///
    /// @param above null when nothing is known there
    /// @param end of the recording
    long from(Place below, @Nullable Place above, long end) {
        if (above != null) {
            // It is there at the earliest: all that the guest was idle it was before.
            long earliest = above.position() - (above.ktimeNs() - ktimeNs) / INSTRUCTION_NS - slack;
            if (earliest > below.position() + SLACK && earliest < above.position()) {
                return earliest;
            }
        }
        // It is there at the latest: all that the guest was idle it is behind.
        long latest = below.position() + (ktimeNs - below.ktimeNs()) / INSTRUCTION_NS - slack;
        if (latest <= below.position() + SLACK) {
            return below.position();
        }
        long last = above == null ? end : above.position();
        return latest < last ? latest : below.position() + (last - below.position()) / 2;
    }

    /// Looks further before: the last jump told nothing new.
    void widen() {
        slack *= WIDER;
    }
}
