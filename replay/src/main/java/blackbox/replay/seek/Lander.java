package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.SeekIndex.Place;
import blackbox.vm.VmException;
import blackbox.vm.machine.ReplayMachine.Recording;
import blackbox.vm.machine.SteppedMachine;
import blackbox.vm.seek.GdbStub;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Brings a replay to the instruction at which the kernel is about to emit a frame of the tracer's: there
/// the event has happened, and nothing that follows it has. One thread.
///
/// The first landing makes one pass over the recording: every so often the machine is run to the next
/// frame, which tells the frame's number and its instruction, and some of these machines are kept. From the
/// nearest of them a landing runs to a known frame before its own and then from frame to frame.
public final class Lander {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /// A stop at a frame takes some ten milliseconds, five million instructions about as much.
    private static final long STRIDE_MIN = 5_000_000;
    private static final int PLACES_MAX = 400;
    private static final int KEPT_MAX = 16;
    /// From this near on each frame is stopped at; what lies further is jumped over by guess.
    private static final int NEAR = 24;
    private static final int GUESSES_MAX = 12;
    private static final int MAGIC = 0x31584242;
    private static final int HEADER_BYTES = 32;

    private final Path data;
    private final Recording recording;
    private final SealedCapture log;
    private final long emitAddress;
    private final SeekIndex index;
    private final Consumer<String> says;

    /// @param log what QEMU logged, checked
    /// @param emitAddress where the guest's kernel has the function that emits frames
    /// @param folder of the index
    /// @param says hears progress
    public Lander(
            Path data, Recording recording, SealedCapture log, long emitAddress, Path folder, Consumer<String> says)
            throws ReplayException {
        this.data = data;
        this.recording = recording;
        this.log = log;
        this.emitAddress = emitAddress;
        this.index = SeekIndex.open(folder);
        this.says = says;
    }

    /// A replay that stands still.
    ///
    /// @param machine the caller's from now on
    /// @param seq the number of the frame that is about to be emitted
    /// @param position the next instruction, counted from the recording's first
    /// @param end how many there are
    public record Landed(SteppedMachine machine, long seq, long position, long end) {}

    /// Lands at the frame with this number.
    ///
    /// @throws ReplayException `BAD_INPUT` when the recording has no such frame; `ENGINE`
    public Landed land(long seq) throws ReplayException {
        try {
            long end = extent().instructions();
            if (!index.isWhole()) {
                pass(end);
            }
            Place from = approach(seq);
            SteppedMachine machine = open(from.position());
            try {
                Place here = walk(machine, from, seq);
                index.add(here);
                index.save(false);
                return new Landed(machine, here.seq(), here.position(), end);
            } catch (VmException | ReplayException e) {
                machine.close();
                throw e;
            }
        } catch (VmException | IOException e) {
            throw new ReplayException(Code.ENGINE, "the replay could not be brought there: " + e.getMessage(), e);
        }
    }

    /// A machine at a known position.
    public SteppedMachine at(long position) throws ReplayException {
        try {
            return open(position);
        } catch (VmException | IOException e) {
            throw new ReplayException(Code.ENGINE, "the replay could not be brought there: " + e.getMessage(), e);
        }
    }

    private LogExtent extent() throws IOException {
        try (InputStream in = log.open()) {
            return LogExtent.read(in);
        }
    }

    private SteppedMachine open(long position) throws VmException, IOException {
        Path kept = index.keptBefore(position);
        SteppedMachine machine;
        if (kept == null) {
            try (InputStream in = log.open()) {
                machine = SteppedMachine.open(data, recording, in);
            }
        } else {
            machine = SteppedMachine.open(data, recording, kept);
        }
        try {
            machine.runTo(position, PATIENCE);
            return machine;
        } catch (VmException e) {
            machine.close();
            throw e;
        }
    }

    /// Goes once through the recording.
    private void pass(long end) throws VmException, IOException, ReplayException {
        says.accept("first landing in this run: indexing it once");
        long stride = Math.max(STRIDE_MIN, end / PLACES_MAX);
        long keepEvery = Math.max(stride, end / KEPT_MAX);
        long nextKept = keepEvery;
        try (SteppedMachine machine = open(0)) {
            for (long position = 0; position < end; position = machine.position() + stride) {
                machine.runTo(position, PATIENCE);
                if (position >= nextKept && machine.keep(index.machine(position))) {
                    index.addKept(position);
                    nextKept = position + keepEvery;
                    says.accept(100 * position / end + " % indexed");
                }
                Place place = next(machine);
                if (place == null || end - place.position() <= stride) {
                    break;
                }
                index.add(place);
            }
        }
        index.save(true);
    }

    /// Runs to the next frame that is emitted; null when the recording ends before.
    private @Nullable Place next(SteppedMachine machine) throws VmException {
        GdbStub gdb = machine.gdb();
        gdb.breakAt(emitAddress);
        if (gdb.resume() == GdbStub.Stop.ENDED) {
            return null; // and its breakpoints with it
        }
        Place place = here(machine);
        gdb.unbreak(emitAddress);
        return place;
    }

    /// The frame at which a machine stands: its address is the function's second argument.
    private static Place here(SteppedMachine machine) throws VmException {
        GdbStub gdb = machine.gdb();
        ByteBuffer frame = ByteBuffer.wrap(gdb.memory(gdb.registers().get("rsi"), HEADER_BYTES))
                .order(ByteOrder.LITTLE_ENDIAN);
        if (frame.getInt(0) != MAGIC) {
            throw new VmException(
                    VmException.Code.GUEST_FAILED, "the guest emits something else than the tracer's frames there");
        }
        return new Place(frame.getLong(16), machine.position());
    }

    /// The nearest known place at or before the frame: jumps ahead by guesses that are tried.
    private Place approach(long seq) throws VmException, IOException, ReplayException {
        Place from = index.floor(seq);
        for (int i = 0; i < GUESSES_MAX && from != null && seq - from.seq() > NEAR; i++) {
            Place above = index.above(seq);
            if (above == null) {
                break;
            }
            long share = (above.position() - from.position())
                    / Math.max(1, above.seq() - from.seq())
                    * Math.max(1, seq - from.seq() - NEAR / 2);
            try (SteppedMachine machine = open(from.position() + Math.max(1, share))) {
                Place found = next(machine);
                if (found == null) {
                    break;
                }
                index.add(found);
            }
            Place better = index.floor(seq);
            if (better == null || better.equals(from) && above.equals(index.above(seq))) {
                break;
            }
            from = better;
        }
        return from == null ? new Place(-1, 0) : from;
    }

    private Place walk(SteppedMachine machine, Place from, long seq) throws VmException, ReplayException {
        Place at = from;
        // Numbers may come slightly out of order: a softirq's frame may overtake one.
        while (at.seq() != seq) {
            if (at.seq() > seq + NEAR) {
                throw new ReplayException(
                        Code.BAD_INPUT, "the guest emitted no frame " + seq + ": the one behind it is " + at.seq());
            }
            if (at.seq() >= 0) {
                machine.gdb().step();
            }
            Place next = next(machine);
            if (next == null) {
                throw new ReplayException(Code.BAD_INPUT, "the recording ends before frame " + seq);
            }
            at = next;
        }
        return at;
    }
}
