package blackbox.replay.output;

import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import java.io.Closeable;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The pieces of one stream or of both, in the order in which the host received them. Owned by one thread.
final class PrintedPieces implements Closeable {

    private final Map<PrintedStream, StreamPieces> streams = new EnumMap<>(PrintedStream.class);
    private long expected;

    /// @param payloads the file of each stream, by the name that events have for it
    PrintedPieces(Set<PrintedStream> wanted, Function<String, Payload> payloads) {
        wanted.forEach(stream -> streams.put(stream, new StreamPieces(stream, payloads.apply(stream.word()))));
    }

    /// Takes what is sealed by now.
    void extend(Map<String, SealedCapture> captures) {
        streams.forEach((stream, pieces) -> {
            SealedCapture capture = captures.get(stream.word());
            if (capture != null) {
                pieces.extend(capture);
            }
        });
    }

    /// The first piece that was not given yet, or null.
    ///
    /// @throws ReplayException `MISSING`, `ALTERED`
    @Nullable
    OutputPiece next() throws ReplayException {
        StreamPieces first = first();
        OutputPiece piece = first == null ? null : first.next();
        expected = piece == null ? expected : piece.number() + 1;
        return piece;
    }

    /// The same, but null also while a piece of the other stream that comes before may still be sealed.
    @Nullable
    OutputPiece nextInTurn() throws ReplayException {
        StreamPieces first = first();
        OutputPiece piece = first == null ? null : first.peek();
        return piece == null || streams.size() > 1 && piece.number() != expected ? null : next();
    }

    /// Whether there is no further piece of a stream.
    boolean isExhausted(PrintedStream stream) throws ReplayException {
        StreamPieces pieces = streams.get(stream);
        return pieces == null || pieces.peek() == null;
    }

    private @Nullable StreamPieces first() throws ReplayException {
        StreamPieces first = null;
        long number = Long.MAX_VALUE;
        for (StreamPieces each : streams.values()) {
            OutputPiece piece = each.peek();
            if (piece != null && piece.number() < number) {
                first = each;
                number = piece.number();
            }
        }
        return first;
    }

    @Override
    public void close() throws IOException {
        for (StreamPieces each : streams.values()) {
            each.close();
        }
    }
}
