package blackbox.replay.output;

import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.CaptureSegment;
import blackbox.replay.capture.Payload;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.capture.SegmentReader;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The pieces of one stream in order, each from segments that were checked as they were read. Owned by one
/// thread.
final class StreamPieces implements Closeable {

    private final Payload payload;
    private final SegmentReader reader;
    private final OutputPiece.Decoder decoder;
    private List<CaptureSegment> segments = List.of();
    private int read;
    private @Nullable OutputPiece ahead;

    /// No pieces yet.
    StreamPieces(PrintedStream stream, Payload payload) {
        this.payload = payload;
        this.reader = new SegmentReader(payload);
        this.decoder = new OutputPiece.Decoder(stream);
    }

    /// The pieces that are in a file so far.
    static StreamPieces of(PrintedStream stream, SealedCapture capture) {
        var pieces = new StreamPieces(stream, capture.payload());
        pieces.extend(capture);
        return pieces;
    }

    /// Takes the same file with the segments that it has by now.
    void extend(SealedCapture capture) {
        segments = capture.segments();
    }

    /// The next piece, or null if no further one is sealed.
    ///
    /// @throws ReplayException `MISSING`, `ALTERED`
    @Nullable
    OutputPiece peek() throws ReplayException {
        while (ahead == null) {
            ahead = decoded();
            if (ahead == null) {
                if (read == segments.size()) {
                    return null;
                }
                decoder.take(reader.read(segments.get(read++)));
            }
        }
        return ahead;
    }

    /// The same, and moves on.
    @Nullable
    OutputPiece next() throws ReplayException {
        OutputPiece piece = peek();
        ahead = null;
        return piece;
    }

    private @Nullable OutputPiece decoded() throws ReplayException {
        try {
            return decoder.next();
        } catch (IOException e) {
            throw new ReplayException(
                    Code.ALTERED, payload.file() + " has the sealed octets, and cannot be read: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
