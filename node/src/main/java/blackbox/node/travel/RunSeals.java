package blackbox.node.travel;

import blackbox.evidence.store.Recordings;
import blackbox.node.travel.TravelException.Code;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.inputs.SealedStart;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a run seals of the files beside its events and of what it was started from.
///
/// @param captures those that events seal, by name
record RunSeals(SealedStart start, RunOpening.GuestInputs inputs, Map<String, SealedCapture> captures) {

    /// The longest of those that no segments seal, in octets; a workspace is as long as the first event says.
    private static final Map<CaptureName, Long> BYTES_MAX = new EnumMap<>(Map.of(
            CaptureName.BASE, 64L << 30,
            CaptureName.BASE_DIGESTS, 1L << 16,
            CaptureName.IMAGE_DIGESTS, 1L << 16,
            CaptureName.RAM, 256L << 30,
            CaptureName.DEVICES, 1L << 30,
            CaptureName.HEADER, 1L << 16,
            CaptureName.EVENTS_BEFORE, 64L << 20,
            CaptureName.ENTROPY, 1L << 10));

    RunSeals {
        captures = Map.copyOf(captures);
    }

    /// Reads them from events that were verified, or are the data folder's own.
    static RunSeals of(Recordings recordings, RunId run) throws IOException, TravelException {
        try {
            RunFacts facts = RunFacts.read(recordings, run);
            return new RunSeals(
                    SealedStart.of(facts), facts.opening().inputs(), SealedCapture.readAll(recordings, run));
        } catch (ReplayException e) {
            throw new TravelException(
                    e.code() == ReplayException.Code.BAD_INPUT ? Code.BAD_INPUT : Code.ALTERED,
                    String.valueOf(e.getMessage()),
                    e);
        }
    }

    /// How many octets of a captured file travel: what is sealed of it, or as many as there are where no segments
    /// seal it; -1 if it does not.
    ///
    /// @param here how many octets the file has
    long bytes(CaptureName name, long here) {
        SealedCapture capture = captures.get(name.text());
        if (capture != null) {
            return capture.sealedBytes();
        }
        if (name == CaptureName.WORKSPACE) {
            return here == start.workspace().bytes() ? here : -1;
        }
        Long most = BYTES_MAX.get(name);
        if (most == null) {
            return here == 0 ? 0 : -1; // nothing was written to it, or nothing of it is sealed
        }
        return here <= most && (name != CaptureName.ENTROPY || inputs.entropy() != null) ? here : -1;
    }

    /// What checks such a file while it is read.
    Seal of(CaptureName name) {
        SealedCapture capture = captures.get(name.text());
        if (capture != null) {
            return new Seal.Segments(capture);
        }
        return switch (name) {
            case WORKSPACE -> new Seal.Whole(name.text(), start.workspace().sha256());
            case ENTROPY -> new Seal.Entropy(name.text(), inputs.entropy());
            case IMAGE_DIGESTS -> new Seal.Whole(name.text(), start.image());
            case BASE_DIGESTS -> {
                Hash snapshot = start.snapshot();
                yield snapshot == null ? new Seal.Later() : new Seal.Whole(name.text(), snapshot);
            }
            case BLOCKS,
                    FRAMES_OUT,
                    FRAMES_IN,
                    PLAINTEXT,
                    STDIN,
                    STDOUT,
                    STDERR,
                    TERMINAL,
                    BASE,
                    RAM,
                    DEVICES,
                    HEADER,
                    EVENTS_BEFORE,
                    LOG,
                    EVENTS,
                    CONSOLE,
                    STDIO,
                    CONTROL -> new Seal.Later();
        };
    }

    /// The captured file of this name, or null.
    static @Nullable CaptureName named(String text) {
        for (CaptureName name : CaptureName.values()) {
            if (name.text().equals(text)) {
                return name;
            }
        }
        return null;
    }
}
