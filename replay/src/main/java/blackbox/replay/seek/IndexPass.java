package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.IndexPlan.Density;
import blackbox.replay.seek.SeekIndex.Place;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One pass over a recording, or over its beginning, that makes its index: at intervals it saves a checkpoint of
/// its machine, and at some of these it stops at a frame, from which the guest's clock is then counted. It resumes
/// from the last checkpoint of the one before it, however that ended.
final class IndexPass {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /// Stopping at a frame takes about half a second, because QEMU then discards its translated code; the clock
    /// stays accurate for many checkpoints.
    private static final int MACHINES_A_FRAME = 25;
    /// While a disk request is in flight, no checkpoint can be saved; this many instructions later it may be done.
    private static final long LITTLE = 30_000;
    private static final int TRIES_MAX = 50;
    /// The share of the index's space that the first part of a run may always use.
    private static final double HEAD_START = 0.125;

    private final FrameBreakpoints breakpoints;
    private final SeekIndex index;
    private final LogExtent extent;
    private final Keeping keeping;
    private final Progress progress;
    private boolean full;
    /// Where it last stopped at a frame; -1 before the first.
    private long met = -1;

    /// Whether a pass may save checkpoints.
    ///
    /// @param bytesMax how much of the host's disk the index may use; negative for a pass that saves
    ///     nothing, because another process has the right to
    record Keeping(long bytesMax) {
        static final Keeping NONE = new Keeping(-1);
    }

    /// @param progress is told how far it is, of the way to where it goes
    IndexPass(FrameBreakpoints breakpoints, SeekIndex index, LogExtent extent, Keeping keeping, Progress progress) {
        this.breakpoints = breakpoints;
        this.index = index;
        this.extent = extent;
        this.keeping = keeping;
        this.progress = progress;
        this.full = keeping.bytesMax() < 0;
    }

    /// Goes on to the recording's end.
    ///
    /// @param events what the tracer sent
    void toTheEnd(SealedCapture events) throws VmException, IOException, ReplayException {
        long end = extent.instructions();
        var plan = new IndexPlan(end, Density.DENSE);
        try (SteppedMachine machine = begin(plan, null)) {
            if (goOn(machine, plan, null) && !machine.finish(PATIENCE)) {
                throw new VmException(VmException.Code.TIMEOUT, "the replay did not reach its end");
            }
            assertEnded(machine, events);
        }
        index.save(true);
    }

    /// Goes on to shortly before a frame, and stops at one before it; executes nothing after it.
    ///
    /// @return the machine, which is paused there and owned by the caller; null when the recording ended before
    @Nullable
    SteppedMachine upTo(Sought sought) throws VmException, IOException, ReplayException {
        var plan = new IndexPlan(extent.instructions(), Density.SPARSE);
        SteppedMachine machine = begin(plan, sought);
        boolean arrived = false;
        try {
            arrived = goOn(machine, plan, sought) && approach(machine, goal(sought));
            return arrived ? machine : null;
        } finally {
            if (!arrived) {
                machine.close();
            }
        }
    }

    /// From a frame shortly before the moment, the moment can be told precisely. False when the recording ended.
    private boolean approach(SteppedMachine machine, long goal) throws VmException, ReplayException {
        return machine.position() >= goal || machine.runTo(goal, PATIENCE) && meet(machine);
    }

    /// A machine to go on with, at the last checkpoint that is of use; at the first frame if the time is not counted
    /// from one yet and there is no checkpoint.
    ///
    /// @param sought where to stop before; null for the recording's end
    private SteppedMachine begin(IndexPlan plan, @Nullable Sought sought)
            throws VmException, IOException, ReplayException {
        var saved = breakpoints.checkpoints().positions();
        if (!new IndexPlan.Known(index.begin(), saved).hasBegun()) {
            SteppedMachine first = breakpoints.open(0);
            boolean goesOn = false;
            try {
                goesOn = meet(first) && saved.isEmpty();
            } finally {
                if (!goesOn) {
                    first.close();
                }
            }
            if (goesOn) {
                return first;
            }
        }
        return breakpoints.open(sought == null ? plan.begin(saved) : goal(sought));
    }

    /// Goes on, with a checkpoint wherever one is due.
    ///
    /// @param sought where to stop before; null for the recording's end
    /// @return false when the recording ended
    private boolean goOn(SteppedMachine machine, IndexPlan plan, @Nullable Sought sought)
            throws VmException, IOException, ReplayException {
        long goal = goal(sought);
        var said = new PassProgress(progress, machine.position(), System::nanoTime);
        boolean goesOn = machine.position() == met || machine.position() >= goal || meet(machine);
        for (int count = 1; goesOn && plan.isDue(machine.position(), goal); count++) {
            long position = plan.next(machine.position());
            goesOn = machine.runTo(position, PATIENCE)
                    && keep(machine, allowed(position))
                    && (count % MACHINES_A_FRAME != 0 || meet(machine));
            goal = goal(sought);
            said.at(position, goal);
        }
        return goesOn;
    }

    /// The last position to which a pass may go.
    private long goal(@Nullable Sought sought) {
        if (sought == null) {
            return extent.instructions();
        }
        Long about = sought.position(index);
        return about == null ? 0 : Math.max(0, Math.min(about, extent.instructions()) - IndexPlan.MARGIN);
    }

    /// Runs to the next frame; false when the recording ended.
    private boolean meet(SteppedMachine machine) throws VmException, ReplayException {
        Place place = breakpoints.next(machine);
        if (place == null) {
            return false;
        }
        met = place.position();
        index.add(place);
        index.save(false);
        return true;
    }

    /// QEMU ends where the recording ended, where its log is truncated, or when it is told to. In the first case
    /// the tracer has sent everything, in the second nobody told it to end.
    private void assertEnded(SteppedMachine machine, SealedCapture events) throws VmException {
        boolean crashed = machine.crashed(); // waits for its last octets
        boolean whole =
                extent.end() ? machine.written(CaptureName.EVENTS.text()) == events.sealedBytes() : !machine.shutDown();
        if (crashed || !whole) {
            throw new VmException(VmException.Code.QEMU_FAILED, "QEMU ended too early: " + machine.lastWords());
        }
    }

    /// A part of the run that changes much leaves room for what comes after it.
    private double allowed(long position) {
        return keeping.bytesMax() * Math.max(HEAD_START, (double) position / extent.instructions());
    }

    /// If no checkpoint can be saved, seeking only takes longer. False if the recording ended.
    private boolean keep(SteppedMachine machine, double bytesMax) throws VmException {
        if (full) {
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
            full = true;
            progress.say("no further replay checkpoints will be saved: " + e.getMessage());
        }
        return true;
    }
}
