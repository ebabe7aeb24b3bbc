package blackbox.vm.guest;

import blackbox.vm.machine.ClockDrift;
/// How far a guest's wall clock was from the host's, each time right before it was corrected; an offset is
/// positive if the guest's clock was ahead. All of it is only the guest's claim. Safe to share.

final class ClockOffsets {
    private static final long STEP_NS = 1_000_000;
    private static final int STEPS = 10_000;

    private final long[] counts = new long[STEPS];
    private long readings;
    private long largestNs;
    private long forwardNs;
    private long heldNs;

    synchronized void add(long readNs) {
        long offsetNs = Math.clamp(readNs, -Long.MAX_VALUE, Long.MAX_VALUE); // the guest's claim, which may be anything
        readings++;
        counts[(int) Math.min(STEPS - 1, Math.abs(offsetNs) / STEP_NS)]++;
        if (Math.abs(offsetNs) > Math.abs(largestNs)) {
            largestNs = offsetNs;
        }
    }

    /// Records that the guest's clock was set forward.
    synchronized void forward(long byNs) {
        long sum = forwardNs + Math.max(0, byNs);
        forwardNs = sum < 0 ? Long.MAX_VALUE : sum;
    }

    /// Records that the guest was paused until the host's time had caught up.
    synchronized void held(long forNs) {
        heldNs += forNs;
    }

    synchronized ClockDrift drift() {
        return new ClockDrift(readings, largestNs, share(50), share(99), forwardNs, heldNs);
    }

    /// The offset that this percentage of the readings does not exceed, to a millisecond.
    private long share(int percent) {
        long wanted = (readings * percent + 99) / 100;
        long seen = 0;
        for (int step = 0; step < STEPS - 1; step++) {
            seen += counts[step];
            if (seen >= wanted) {
                return Math.min(Math.abs(largestNs), (step + 1) * STEP_NS);
            }
        }
        return Math.abs(largestNs);
    }
}
