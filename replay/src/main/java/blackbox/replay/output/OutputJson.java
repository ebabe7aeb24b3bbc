package blackbox.replay.output;

import blackbox.evidence.text.Timestamps;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The answer of `output`, as JSON: an object for each piece, and a last one that says whether these are
/// all.
public final class OutputJson {

    private OutputJson() {}

    /// Writes a piece.
    ///
    /// @param octet the place of its first octet in its stream, from 0
    public static void piece(JsonGenerator out, OutputPiece piece, long octet) throws IOException {
        write(out, piece, octet, piece.text());
    }

    /// The same with base64 in any case, which is at most a third longer than the piece.
    public static void encoded(JsonGenerator out, OutputPiece piece, long octet) throws IOException {
        write(out, piece, octet, null);
    }

    private static void write(JsonGenerator out, OutputPiece piece, long octet, @Nullable String text)
            throws IOException {
        out.setHighestNonEscapedChar('~'); // terminals act on some of what lies beyond
        out.writeStartObject();
        out.writeStringField("at", Timestamps.format(piece.atNs()));
        out.writeStringField("stream", piece.stream().word());
        out.writeNumberField("octet", octet);
        out.writeNumberField("bytes", piece.bytes());
        if (text == null) {
            out.writeStringField("base64", piece.base64());
        } else {
            out.writeStringField("text", text);
        }
        out.writeEndObject();
    }

    /// Writes the last object.
    public static void end(JsonGenerator out, RunId run, OutputReader.Answer answer) throws IOException {
        out.writeStartObject();
        fields(out, run, answer);
        out.writeEndObject();
    }

    /// Writes the fields of the last object.
    public static void fields(JsonGenerator out, RunId run, OutputReader.Answer answer) throws IOException {
        out.writeStringField("run", run.value());
        out.writeStringField("state", answer.state().name());
        out.writeArrayFieldStart("streams");
        for (Map.Entry<PrintedStream, Long> each : answer.bytes().entrySet()) {
            out.writeStartObject();
            out.writeStringField("stream", each.getKey().word());
            out.writeNumberField("bytes", each.getValue());
            long printed = answer.recorded().printedBytes(each.getKey());
            if (printed >= 0) {
                out.writeNumberField("printed", printed);
            }
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("limits");
        for (OutputLimit limit : answer.limits()) {
            out.writeStartObject();
            out.writeStringField("kind", limit.kind().name());
            PrintedStream stream = limit.stream();
            out.writeStringField("stream", stream == null ? null : stream.word());
            out.writeStringField("text", limit.text());
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
