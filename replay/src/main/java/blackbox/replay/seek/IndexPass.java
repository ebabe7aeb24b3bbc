package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.SeekIndex.Place;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.time.Duration;

/// One pass over a recording that makes its index: at intervals it saves a checkpoint of its machine, and at
/// some of these it stops at a frame, from which the guest's clock is then counted. A pass that was
/// interrupted resumes from its last checkpoint.
final class IndexPass {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /// A hundred million instructions take about half a second, and so does saving a checkpoint.
    private static final long EVERY = 100_000_000;
    private static final long EVERY_MIN = 20_000_000;
    private static final int MACHINES_MIN = 16;
    private static final int MACHINES_MAX = 800;
    /// Stopping at a frame takes as long again, because QEMU then discards its translated code; the clock
    /// stays accurate for many checkpoints.
    private static final int MACHINES_A_FRAME = 25;
    /// While a disk request is in flight, no checkpoint can be saved; this many instructions later it may be done.
    private static final long LITTLE = 30_000;
    private static final int TRIES_MAX = 50;
    private static final Duration SAY_EVERY = Duration.ofSeconds(3);
    /// The share of the index's space that the first part of a run may always use.
    private static final double HEAD_START = 0.125;

    private final FrameBreakpoints breakpoints;
    private final SeekIndex index;
    private final LogExtent extent;
    private final SealedCapture events;
    private final Progress progress;
    private boolean keeping = true;
    private long saidNs;

    /// @param events what the tracer sent
    IndexPass(
            FrameBreakpoints breakpoints, SeekIndex index, LogExtent extent, SealedCapture events, Progress progress) {
        this.breakpoints = breakpoints;
        this.index = index;
        this.extent = extent;
        this.events = events;
        this.progress = progress;
    }

    /// Runs to the recording's end.
    ///
    /// @param bytesMax how much of the host's disk the index may use
    void run(long bytesMax) throws VmException, IOException, ReplayException {
        long end = extent.instructions();
        long stride = Math.max(end / MACHINES_MAX, Math.clamp(end / MACHINES_MIN, EVERY_MIN, EVERY));
        long startedNs = System.nanoTime();
        saidNs = startedNs;
        try (SteppedMachine machine = breakpoints.open(begin(end))) {
            long began = machine.beganAt();
            boolean goesOn = meet(machine);
            for (int count = 1; goesOn && machine.position() + stride < end; count++) {
                long position = machine.position() + stride;
                goesOn = machine.runTo(position, PATIENCE)
                        && keep(machine, allowed(bytesMax, position))
                        && (count % MACHINES_A_FRAME != 0 || meet(machine));
                say(position, began, startedNs);
            }
            if (goesOn && !machine.finish(PATIENCE)) {
                throw new VmException(VmException.Code.TIMEOUT, "the replay did not reach its end");
            }
            assertEnded(machine);
        }
        index.save(true);
    }

    /// Where a pass resumes: at the last checkpoint, unless the positions that belong to the checkpoints are
    /// gone.
    private long begin(long end) {
        Long first = index.begin();
        var kept = breakpoints.checkpoints().positions();
        return first != null && !kept.isEmpty() && first <= kept.first() ? end : 0;
    }

    /// Runs to the next frame; false when the recording ended.
    private boolean meet(SteppedMachine machine) throws VmException, ReplayException {
        Place place = breakpoints.next(machine);
        if (place == null) {
            return false;
        }
        index.add(place);
        index.save(false);
        return true;
    }

    /// QEMU ends where the recording ended, where its log is truncated, or when it is told to. In the first case
    /// the tracer has sent everything, in the second nobody told it to end.
    private void assertEnded(SteppedMachine machine) throws VmException {
        boolean crashed = machine.crashed(); // waits for its last octets
        boolean whole =
                extent.end() ? machine.written(CaptureName.EVENTS.text()) == events.sealedBytes() : !machine.shutDown();
        if (crashed || !whole) {
            throw new VmException(VmException.Code.QEMU_FAILED, "QEMU ended too early: " + machine.lastWords());
        }
    }

    /// A part of the run that changes much leaves room for what comes after it.
    private double allowed(long bytesMax, long position) {
        return bytesMax * Math.max(HEAD_START, (double) position / extent.instructions());
    }

    /// If no checkpoint can be saved, seeking only takes longer. False if the recording ended.
    private boolean keep(SteppedMachine machine, double bytesMax) throws VmException {
        if (!keeping) {
            return true;
        }
        try {
            int tries = breakpoints.checkpoints().bytes() <= bytesMax ? TRIES_MAX : 0;
            for (int i = 0; i < tries && !machine.keep(breakpoints.checkpoints()); i++) {
                if (!machine.runTo(machine.position() + LITTLE, PATIENCE)) {
                    return false;
                }
            }
        } catch (VmException e) {
            if (e.code() != VmException.Code.IO && e.code() != VmException.Code.DISK_FULL) {
                throw e;
            }
            keeping = false;
            progress.say("no further replay checkpoints will be saved: " + e.getMessage());
        }
        return true;
    }

    private void say(long position, long began, long startedNs) {
        long nowNs = System.nanoTime();
        if (nowNs - saidNs < SAY_EVERY.toNanos()) {
            return;
        }
        saidNs = nowNs;
        long end = extent.instructions();
        long leftNs = (long) ((double) (nowNs - startedNs) / (position - began) * (end - position));
        progress.say(100 * position / end + " % indexed, about "
                + Duration.ofNanos(leftNs).toSeconds() + " s left");
    }
}
