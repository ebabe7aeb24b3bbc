package blackbox.replay.seek;

import blackbox.evidence.store.RunReader;
import blackbox.query.run.RunFacts;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.exact.ExactReplayer;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.replay.ReplayMachine;
import blackbox.vm.replay.SteppedMachine;
import java.io.IOException;
import java.nio.file.Path;

/// Seekers for exact runs, with their indexes in `replays/RUN/index`.
public final class Seekers {

    private Seekers() {}

    /// A seeker for a run.
    ///
    /// @param request one whose inputs were checked
    /// @param progress receives progress
    /// @throws ReplayException `BAD_INPUT` for a recording that does not record where its frames are emitted
    public static Seeker open(ReplayRequest request, Progress progress) throws ReplayException, IOException {
        var streams = new Seeker.Streams(
                sealed(request, CaptureName.LOG.text()),
                sealed(request, CaptureName.EVENTS.text()),
                emitAddress(request));
        return open(
                request.recordings().data(),
                request.facts().run(),
                ExactReplayer.recording(request),
                streams,
                progress);
    }

    /// A seeker for an exact recording of any origin.
    ///
    /// @param run whose index it uses
    public static Seeker open(
            Path data, RunId run, ReplayMachine.Recording recording, Seeker.Streams streams, Progress progress)
            throws ReplayException {
        try {
            SteppedMachine.clearLeftovers(data);
        } catch (VmException e) {
            throw new ReplayException(Code.ENGINE, "leftovers of earlier machines could not be deleted", e);
        }
        return new Seeker(data, run, recording, streams, progress);
    }

    private static SealedCapture sealed(ReplayRequest request, String name) throws ReplayException {
        SealedCapture capture = request.inputs().captures().get(name);
        if (capture == null) {
            throw new ReplayException(
                    Code.MISSING, "run " + request.facts().run() + " has no captured file '" + name + "'");
        }
        return capture;
    }

    /// Where the guest's kernel emits frames, as the tracer reports in the run's second event.
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
                "the recording was made before Blackbox recorded where events are emitted; it can only be replayed as a whole");
    }
}
