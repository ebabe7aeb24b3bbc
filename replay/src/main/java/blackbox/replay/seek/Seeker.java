package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.GuestClock;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.SeekIndex.Place;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayCheckpoints;
import blackbox.vm.replay.ReplayMachine.Recording;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Brings a replay to the instruction at which the kernel is about to emit a frame of the tracer's: there
/// the event has happened, and nothing that follows it has. One thread.
///
/// Seeking starts from the nearest checkpoint that a pass over the recording has saved, jumps by the frame's
/// time, and visits the last few frames one by one.
public final class Seeker {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /// Beyond this distance, a fresh machine from a checkpoint arrives sooner than one that continues.
    private static final long WORTH_OPENING = 60_000_000;
    /// Within this distance, each frame is visited: that takes no longer than another estimate.
    private static final int NEAR = 4;
    /// Numbers may come slightly out of order: a softirq's frame may overtake others.
    private static final int OVERTAKEN_MAX = 64;
    private static final int GUESSES_MAX = 40;
    /// How many machines may get stuck before giving up.
    private static final int STANDING_MAX = 3;

    private final Path data;
    private final RunId run;
    private final SealedCapture events;
    private final Path folder;
    private final Progress progress;
    private final int instructionShift;
    private FrameBreakpoints breakpoints;
    private SeekIndex index;

    /// The captured files of the recording, checked.
    ///
    /// @param log what QEMU logged
    /// @param events what the tracer sent
    /// @param emitAddress where the guest's kernel has the function that emits frames
    public record Streams(SealedCapture log, SealedCapture events, long emitAddress) {}

    /// @param data the data folder, with the machines' folders and the index `replays/RUN/index`
    /// @param run the run of the index
    /// @param progress receives progress
    /// @throws ReplayException `ENGINE` when the index cannot be read
    public Seeker(Path data, RunId run, Recording recording, Streams streams, Progress progress)
            throws ReplayException {
        this.data = data;
        this.run = run;
        this.events = streams.events();
        this.folder = new DataFolder(data).index(run);
        this.progress = progress;
        this.index = SeekIndex.open(folder);
        try {
            var checkpoints = ReplayCheckpoints.open(folder);
            this.instructionShift = recording.instructionShift();
            this.breakpoints = new FrameBreakpoints(data, recording, streams.log(), checkpoints, streams.emitAddress());
        } catch (VmException e) {
            throw failed(e);
        }
    }

    /// Whether the index of a run is complete.
    ///
    /// @throws ReplayException `ENGINE` when the index cannot be read
    public static boolean isIndexed(Path data, RunId run) throws ReplayException {
        Path folder = new DataFolder(data).index(run);
        return Files.isDirectory(folder) && SeekIndex.open(folder).isWhole();
    }

    /// A paused replay.
    ///
    /// @param machine owned by the caller from now on
    /// @param seq the number of the frame that is about to be emitted
    /// @param position the next instruction, counted from the recording's first
    /// @param end how many there are
    public record Paused(SteppedMachine machine, long seq, long position, long end) {}

    /// Seeks to the frame with this number.
    ///
    /// @throws ReplayException `BAD_INPUT` when the recording has no such frame, or it was emitted before the
    /// recording's first instruction; `ENGINE`
    public Paused seek(long seq) throws ReplayException {
        try {
            var clock = new GuestClock(instructionShift);
            var sought = new Sought(seq, FrameTimes.of(events, seq), clock);
            LogExtent extent = breakpoints.extent(clock);
            var plan = new IndexPlan(extent.instructions(), IndexPlan.Density.SPARSE);
            try (IndexRight right = right(() -> !index.isWhole() && plan.isLeft(known(), sought.position(index)))) {
                return again(() -> land(sought, extent, right));
            }
        } catch (VmException | IOException e) {
            throw failed(e);
        }
    }

    private Paused land(Sought sought, LogExtent extent, IndexRight right)
            throws VmException, IOException, ReplayException {
        SteppedMachine near = null;
        if (right.isNeeded()) {
            progress.say("indexing the run up to this moment, which takes about as long as it ran until then");
            near = pass(extent, right).upTo(sought);
        }
        var way = new Way(extent.instructions(), near);
        try {
            Place here = way.meet(sought.seq(), new Approach(sought.clock(), sought.ktimeNs()));
            index.save(false);
            return new Paused(way.machine(), sought.seq(), here.position(), extent.instructions());
        } catch (VmException | IOException | ReplayException e) {
            way.close();
            throw e;
        }
    }

    /// A machine at an instruction.
    ///
    /// @throws ReplayException `BAD_INPUT` when the recording ends before it; `ENGINE`
    public SteppedMachine at(long position) throws ReplayException {
        try {
            return again(() -> {
                var way = new Way(position, null);
                try {
                    way.bring(position);
                    return way.machine();
                } catch (VmException | IOException | ReplayException e) {
                    way.close();
                    throw e;
                }
            });
        } catch (VmException | IOException e) {
            throw failed(e);
        }
    }

    /// Completes the index unless it is whole, ahead of the first seek or for later ones. An interrupt ends it; what
    /// has been done by then is not done again.
    ///
    /// @return false if it was whole
    /// @throws ReplayException `ENGINE`
    public boolean indexAll() throws ReplayException {
        try {
            if (index.isWhole()) {
                return false;
            }
            LogExtent extent = breakpoints.extent(new GuestClock(instructionShift));
            try (IndexRight right = right(() -> !index.isWhole())) {
                if (right.isNeeded()) {
                    again(() -> {
                        pass(extent, right).toTheEnd(events);
                        return index;
                    });
                }
            }
            return true;
        } catch (VmException | IOException e) {
            throw failed(e);
        }
    }

    private IndexPass pass(LogExtent extent, IndexRight right) throws VmException, IOException {
        var keeping = right.lock() == null
                ? IndexPass.Keeping.NONE
                : new IndexPass.Keeping(IndexQuota.make(new DataFolder(data).replays(), folder));
        return new IndexPass(breakpoints, index, extent, keeping, progress);
    }

    private IndexRight right(IndexRight.Need need) throws VmException, IOException, ReplayException {
        var waiter = new IndexRight.Waiting(
                () -> {
                    refresh();
                    return need.remains();
                },
                () -> breakpoints.checkpoints().positions().size(),
                progress);
        return IndexRight.take(new DataFolder(data), run, waiter);
    }

    /// What others have indexed by now.
    private void refresh() throws VmException, ReplayException {
        index = SeekIndex.open(folder);
        breakpoints = breakpoints.with(ReplayCheckpoints.open(folder));
    }

    /// Something that a machine does.
    private interface Attempt<T> {
        T make() throws VmException, IOException, ReplayException;
    }

    /// A machine that gets stuck says nothing about the recording: another one takes over.
    private <T> T again(Attempt<T> attempt) throws VmException, IOException, ReplayException {
        for (int standing = 1; ; standing++) {
            try {
                return attempt.make();
            } catch (VmException e) {
                if (e.code() != VmException.Code.TIMEOUT
                        || standing == STANDING_MAX
                        || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                progress.say(e.getMessage() + "; trying again with another machine");
            }
        }
    }

    private static ReplayException failed(Exception e) {
        return new ReplayException(Code.ENGINE, "the replay could not reach that moment: " + e.getMessage(), e);
    }

    private IndexPlan.Known known() {
        return new IndexPlan.Known(index.begin(), breakpoints.checkpoints().positions());
    }

    /// The machine of one seek, which is replaced whenever it has to go back.
    private final class Way {
        private final long end;
        private @Nullable SteppedMachine machine;

        /// @param machine to begin with; null for none
        Way(long end, @Nullable SteppedMachine machine) {
            this.end = end;
            this.machine = machine;
        }

        /// Gets near, and continues until it reaches the frame. A frame that has overtaken others is earlier
        /// than they are, and is searched for from further back.
        Place meet(long seq, Approach approach) throws VmException, IOException, ReplayException {
            Place met = meet(seq, guess(seq, approach));
            if (met == null) {
                approach.widen();
                met = meet(seq, guess(seq - OVERTAKEN_MAX, approach));
            }
            if (met == null && index.floor(seq) == null) {
                throw new ReplayException(
                        Code.BAD_INPUT,
                        "this happened before the run's first instruction: it is in the snapshot that the run was"
                                + " started from, and was sent when that resumed; choose a later event");
            }
            if (met == null) {
                throw new ReplayException(Code.ENGINE, "the replay emits no frame " + seq);
            }
            return met;
        }

        /// Jumps to shortly before the point where the guest's clock shows the frame's time, and to a frame that
        /// is numbered no higher than `seq`; null means the recording's start.
        private @Nullable Place guess(long seq, Approach approach) throws VmException, IOException, ReplayException {
            Place below = index.floor(seq);
            for (int i = 0; i < GUESSES_MAX && below != null && seq - below.seq() > NEAR; i++) {
                long target = approach.from(below, index.above(seq), end);
                if (target <= below.position()) {
                    return below;
                }
                bring(target);
                Place found = next();
                if (found != null) {
                    index.add(found);
                }
                if (found == null || found.seq() > seq) {
                    approach.widen();
                }
                below = index.floor(seq);
            }
            return below;
        }

        private @Nullable Place meet(long seq, @Nullable Place from) throws VmException, IOException, ReplayException {
            Place at = from;
            bring(at == null ? 0 : at.position());
            if (at != null && breakpoints.here(machine()).seq() != at.seq()) {
                throw new ReplayException(
                        Code.ENGINE, "the index " + folder + " is wrong; delete it, and it is rebuilt");
            }
            while (at == null || at.seq() != seq) {
                if (at != null) {
                    if (at.seq() > seq + OVERTAKEN_MAX) {
                        return null;
                    }
                    machine().gdb().step();
                }
                at = next();
                if (at == null) {
                    return null;
                }
                index.add(at);
            }
            return at;
        }

        void bring(long position) throws VmException, IOException, ReplayException {
            SteppedMachine open = machine;
            long from = open == null ? Long.MAX_VALUE : open.position();
            Long checkpoints = breakpoints.checkpoints().positions().floor(position);
            if (from > position || checkpoints != null && checkpoints > from + WORTH_OPENING) {
                close();
                machine = breakpoints.open(position);
            }
            if (!machine().runTo(position, PATIENCE)) {
                ended();
                throw new ReplayException(Code.BAD_INPUT, "the recording ends before instruction " + position);
            }
        }

        private @Nullable Place next() throws VmException {
            Place place = breakpoints.next(machine());
            if (place == null) {
                ended();
            }
            return place;
        }

        private void ended() throws VmException {
            SteppedMachine gone = machine();
            if (gone.crashed()) {
                throw new VmException(VmException.Code.QEMU_FAILED, "QEMU ended too early: " + gone.lastWords());
            }
            close();
        }

        SteppedMachine machine() {
            return Objects.requireNonNull(machine);
        }

        void close() throws VmException {
            SteppedMachine open = machine;
            if (open != null) {
                machine = null;
                open.close();
            }
        }
    }
}
