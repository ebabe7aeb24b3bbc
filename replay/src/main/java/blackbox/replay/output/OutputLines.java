package blackbox.replay.output;

import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/// Writes an object for each piece. Owned by one thread.
public final class OutputLines implements OutputReader.Sink {

    private final JsonGenerator json;
    private final Idle idle;
    private final Map<PrintedStream, Long> octets = new EnumMap<>(PrintedStream.class);

    /// What is done where there is nothing new for now, after what there is was flushed.
    @FunctionalInterface
    public interface Idle {
        void run() throws IOException;
    }

    public OutputLines(JsonGenerator json, Idle idle) {
        this.json = json;
        this.idle = idle;
    }

    @Override
    public void piece(OutputPiece piece) throws IOException {
        OutputJson.piece(json, piece, octets.getOrDefault(piece.stream(), 0L));
        octets.merge(piece.stream(), (long) piece.bytes(), Long::sum);
    }

    @Override
    public void idle() throws IOException {
        json.flush();
        idle.run();
    }
}
