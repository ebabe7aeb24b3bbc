package blackbox.replay.seek;

import blackbox.replay.exact.GuestClock;
import blackbox.replay.seek.SeekIndex.Place;
import org.jspecify.annotations.Nullable;

/// Estimates where a frame is between two whose positions are known: by its time and the guest's clock, minus
/// a margin.
final class Approach {
    /// A frame is emitted some hundreds or thousands of instructions after its time was read.
    private static final long SLACK = 4_000;
    private static final int WIDER = 8;

    private final GuestClock clock;
    private final long ktimeNs;
    private long slack = SLACK;

    /// @param ktimeNs the time of the frame to find
    Approach(GuestClock clock, long ktimeNs) {
        this.clock = clock;
        this.ktimeNs = ktimeNs;
    }

    /// The instruction to run to, before stopping at the next frame. It is that of `below` if a jump gains
    /// nothing: then the frames after it are visited one by one.
    ///
    /// @param above null if nothing is known there
    /// @param end of the recording
    long from(Place below, @Nullable Place above, long end) {
        long there = clock.after(below.position(), ktimeNs - below.ktimeNs()) - slack;
        if (there <= below.position() + SLACK) {
            return below.position();
        }
        long last = above == null ? end : above.position();
        return there < last ? there : below.position() + (last - below.position()) / 2;
    }

    /// Moves the estimate back: the last jump went too far.
    void widen() {
        slack *= WIDER;
    }
}
