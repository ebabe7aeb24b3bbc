package blackbox.node.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// A vendor's model that asks for one tool after the other, as many as it has been told the results of, and
/// then says `Done.`: what is asked of it, and its streams.
interface FakeModel {
    ObjectMapper JSON = new ObjectMapper();

    /// The name by which pi knows the vendor.
    String provider();

    /// One of the vendor's models that pi knows.
    String model();

    /// The variable of the environment with its key.
    String keyName();

    String host();

    /// The path of what it is asked.
    String path();

    /// How its calls of tools are named, before their number.
    String toolPrefix();

    /// How its answers are named, before their number.
    String answerPrefix();

    /// How many results of tools are in a question.
    long results(JsonNode question);

    /// Answers with a tool.
    ///
    /// @param arguments a JSON object
    void askFor(OutputStream out, int turn, String tool, String arguments) throws IOException;

    /// Answers with `Done.`
    void sayDone(OutputStream out, int turn) throws IOException;

    /// Sends an event of a stream.
    static void send(OutputStream out, String type, ObjectNode event) throws IOException {
        event.put("type", type);
        String text = "event: " + type + "\ndata: " + JSON.writeValueAsString(event) + "\n\n";
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }
}
