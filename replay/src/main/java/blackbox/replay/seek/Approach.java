package blackbox.replay.seek;

import blackbox.replay.exact.GuestClock;
import blackbox.replay.seek.SeekIndex.Place;
import org.jspecify.annotations.Nullable;

/// Where to look for a frame between two whose places are known: by its time and the guest's clock, a little before.
final class Approach {
    /// From a frame's time to the instruction that emits it are some hundreds or thousands.
    private static final long SLACK = 4_000;
    private static final int WIDER = 8;

    private final GuestClock clock;
    private final long ktimeNs;
    private long slack = SLACK;

    /// @param ktimeNs the time of the frame that is looked for
    Approach(GuestClock clock, long ktimeNs) {
        this.clock = clock;
        this.ktimeNs = ktimeNs;
    }

    /// The instruction to run to, from where the next frame is met. It is `below`'s where a jump gains nothing: the
    /// frames that follow it are met one by one then.
    ///
    /// @param above null when nothing is known there
    /// @param end of the recording
    long from(Place below, @Nullable Place above, long end) {
        long there = clock.after(below.position(), ktimeNs - below.ktimeNs()) - slack;
        if (there <= below.position() + SLACK) {
            return below.position();
        }
        long last = above == null ? end : above.position();
        return there < last ? there : below.position() + (last - below.position()) / 2;
    }

    /// Looks further before: the last jump went too far.
    void widen() {
        slack *= WIDER;
    }
}
