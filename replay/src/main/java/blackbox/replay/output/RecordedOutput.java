package blackbox.replay.output;

import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import blackbox.query.run.RunState;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.SealedCapture;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a run keeps of what its command printed, and what it says about that.
///
/// @param captures the run's captured files, by name
public record RecordedOutput(RunFacts facts, Map<String, SealedCapture> captures) {

    /// Why the run keeps nothing, or null if it keeps what is printed.
    public @Nullable OutputLimit unkept() {
        if (facts.start() == null) {
            return null; // it is only beginning, or nothing of it is here
        }
        RunOpening.Recorder recorder = facts.opening().recorder();
        Long bytesMax = recorder == null ? null : recorder.outputBytesMax();
        if (bytesMax != null && bytesMax > 0) {
            return null;
        }
        String why = bytesMax == null
                ? "was recorded by a Blackbox that did not keep what a command prints; record it again to have it"
                : "was recorded with --output-max 0, and so without what its command printed as output (what a terminal"
                        + " showed, and what an exact replay needs, it may have); record it again with --output-max"
                        + " 64M, or without it, to have it";
        return new OutputLimit(OutputLimit.Kind.NOT_RECORDED, null, "run " + facts.run() + " " + why);
    }

    /// Whether the command had a terminal, and so only one stream.
    public boolean hasTerminal() {
        return facts.opening().agent().terminal() != null;
    }

    /// The file of a stream; null if nothing of it is sealed.
    public @Nullable SealedCapture capture(PrintedStream stream) {
        return captures.get(stream.word());
    }

    /// Why a stream may have more than what is sealed of it, or null if that is all.
    ///
    /// @param bytes how many octets of the stream are sealed
    public @Nullable OutputLimit limit(PrintedStream stream, long bytes) {
        SealedCapture capture = capture(stream);
        long printed = printedBytes(stream);
        if (capture != null && capture.ended() != null) {
            return new OutputLimit(
                    OutputLimit.Kind.CUT,
                    stream,
                    "of " + stream.inWords() + " only the first " + bytes + " bytes are kept"
                            + (printed < 0 ? "" : ", of " + printed + " that were printed")
                            + ": `record --output-max` allowed no more");
        }
        String why = unsealed(stream);
        if (why == null && printed > bytes) {
            why = "the run says that " + printed + " bytes were printed";
        }
        if (why == null && facts.end() != null && !hasEnded(stream)) {
            why = "the recorder did not see the stream's end";
        }
        return why == null
                ? null
                : new OutputLimit(
                        OutputLimit.Kind.UNSEALED,
                        stream,
                        "what was printed on " + stream.inWords() + " after its first " + bytes
                                + " bytes is not sealed, and is not shown: " + why);
    }

    /// How many octets were printed on a stream; -1 if the run does not say.
    public long printedBytes(PrintedStream stream) {
        return close().path(stream.word()).path("bytes").asLong(-1);
    }

    private boolean hasEnded(PrintedStream stream) {
        return close().path(stream.word()).path("ended").asBoolean();
    }

    private @Nullable String unsealed(PrintedStream stream) {
        if (facts.state() == RunState.TRUNCATED) {
            return "the recorder ended without closing the run, so there may be some";
        }
        return close().path("unsealed").path(stream.word()).textValue();
    }

    private JsonNode close() {
        RunFacts.End end = facts.end();
        return end == null ? MissingNode.getInstance() : end.detail();
    }

    /// The octets of a stream, checked as they are read; none if none is sealed.
    public PieceInput open(PrintedStream stream) {
        return open(stream, PieceInput.BEGAN_UNKNOWN);
    }

    /// The same.
    ///
    /// @param beganNs when the first octet may have been printed at the earliest, on the clock of the run's events
    public PieceInput open(PrintedStream stream, long beganNs) {
        SealedCapture capture = capture(stream);
        if (capture == null) {
            return PieceInput.none();
        }
        var pieces = StreamPieces.of(stream, capture);
        return new PieceInput(() -> nextOf(pieces), pieces, beganNs);
    }

    /// The piece that has an octet of a stream, or null if none has it.
    ///
    /// @throws IOException when the file cannot be read, or is not what was sealed
    public @Nullable OutputPiece pieceWith(PrintedStream stream, long octet) throws IOException {
        SealedCapture capture = capture(stream);
        if (capture == null) {
            return null;
        }
        try (var pieces = StreamPieces.of(stream, capture)) {
            OutputPiece piece = nextOf(pieces);
            for (long end = 0; piece != null; piece = nextOf(pieces)) {
                end += piece.bytes();
                if (octet < end) {
                    return piece;
                }
            }
            return null;
        }
    }

    private static @Nullable OutputPiece nextOf(StreamPieces pieces) throws IOException {
        try {
            return pieces.next();
        } catch (ReplayException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
