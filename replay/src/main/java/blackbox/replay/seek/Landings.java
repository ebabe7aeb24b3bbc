package blackbox.replay.seek;

import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.ExactReplayer;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/// Landings in exact runs: their indexes are in `replays/RUN/index`.
public final class Landings {

    private Landings() {}

    /// What lands in a run.
    ///
    /// @param request of which everything was checked
    /// @param says hears progress
    /// @throws ReplayException `BAD_INPUT` for a recording that does not say where its frames are emitted
    public static Seeker lander(ReplayRequest request, Consumer<String> says) throws ReplayException, IOException {
        var streams = new Seeker.Streams(
                sealed(request, CaptureName.LOG.text()),
                sealed(request, CaptureName.EVENTS.text()),
                emitAddress(request));
        Path data = request.recordings().data();
        try {
            SteppedMachine.clearLeftovers(data);
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "what earlier machines left could not be cleared", e);
        }
        return new Seeker(data, request.facts().run(), ExactReplayer.recording(request), streams, says);
    }

    private static SealedCapture sealed(ReplayRequest request, String name) throws ReplayException {
        SealedCapture capture = request.inputs().captures().get(name);
        if (capture == null) {
            throw new ReplayException(
                    Code.MISSING, "run " + request.facts().run() + " has no captured file '" + name + "'");
        }
        return capture;
    }

    /// Where the guest's kernel emits frames: the tracer says so in the run's second event.
    private static long emitAddress(ReplayRequest request) throws IOException, ReplayException {
        try (RunReader reader =
                RunReader.open(request.recordings(), request.facts().run(), 1)) {
            Long address = reader.next()
                    ? TracerReport.of(RunFacts.detailOf(reader.row())).emitAddress()
                    : null;
            if (address != null) {
                return address;
            }
        }
        throw new ReplayException(
                Code.BAD_INPUT,
                "the recording was made before Blackbox noted where events are emitted; it can be replayed whole");
    }
}
