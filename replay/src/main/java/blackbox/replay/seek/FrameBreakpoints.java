package blackbox.replay.seek;

import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.GuestClock;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.SeekIndex.Place;
import blackbox.schemas.wire.Frame;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayCheckpoints;
import blackbox.vm.replay.ReplayMachine.Recording;
import blackbox.vm.replay.SteppedMachine;
import blackbox.vm.seek.GdbStub;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Machines of one recording, and the breakpoint that stops them at the tracer's frames.
///
/// @param data where machines have their folders
/// @param log what QEMU logged, checked
/// @param emitAddress where the guest's kernel has the function that emits frames
record FrameBreakpoints(
        Path data, Recording recording, SealedCapture log, ReplayCheckpoints checkpoints, long emitAddress) {
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /// The same with other replay checkpoints.
    FrameBreakpoints with(ReplayCheckpoints others) {
        return new FrameBreakpoints(data, recording, log, others, emitAddress);
    }

    /// The extent of the recording.
    ///
    /// @param clock becomes the guest's clock
    LogExtent extent(GuestClock clock) throws IOException {
        try (InputStream in = log.open()) {
            return LogExtent.read(in, clock);
        }
    }

    /// A machine at the last checkpoint at or before a position, or at the recording's start. A damaged checkpoint
    /// is skipped: the one before it works as well.
    SteppedMachine open(long position) throws VmException, IOException {
        while (true) {
            Long from = checkpoints.positions().floor(position);
            try (InputStream in = log.open()) {
                return from == null
                        ? SteppedMachine.open(data, recording, in)
                        : SteppedMachine.open(data, recording, in, checkpoints, from);
            } catch (VmException e) {
                if (from == null || e.code() != VmException.Code.IO) {
                    throw e;
                }
                checkpoints.leaveOut(from);
            }
        }
    }

    /// Runs to the next frame that is emitted; null if the recording, and QEMU with it, ends before.
    @Nullable
    Place next(SteppedMachine machine) throws VmException {
        if (!machine.readyForDebugger(PATIENCE)) {
            return null;
        }
        GdbStub gdb = machine.gdb();
        gdb.breakAt(emitAddress);
        if (gdb.resume() == GdbStub.Stop.ENDED) {
            return null;
        }
        Place place = here(machine);
        gdb.unbreak(emitAddress);
        return place;
    }

    /// The frame at which a machine is paused: its address is the function's second argument.
    ///
    /// @throws VmException `GUEST_FAILED` when it is not at one
    Place here(SteppedMachine machine) throws VmException {
        GdbStub gdb = machine.gdb();
        var registers = gdb.registers();
        if (registers.get("rip") == emitAddress) {
            Frame.Moment moment = Frame.moment(gdb.memory(registers.get("rsi"), Frame.HEADER_BYTES));
            if (moment != null) {
                return new Place(moment.cpuSeq(), machine.position(), moment.ktimeNs());
            }
        }
        throw new VmException(VmException.Code.GUEST_FAILED, "the tracer emits no frame at " + machine.position());
    }
}
