package blackbox.node.control;

import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What became of a [ControlRequest], as one line of JSON.
///
/// @param machine what it was doing afterwards: `running`, `paused`, `ended`, or `unknown`
/// @param tookNs until the machine did so
/// @param why it was not done, or not as it should be; null otherwise
public record ControlAnswer(
        Outcome outcome,
        String machine,
        long tookNs,
        @Nullable String why) {

    private static final JsonMapper JSON = new JsonMapper();

    /// What a hypervisor says may be as long as it likes.
    private static final int WHY_CHARS_MAX = 300;

    public ControlAnswer {
        why = why == null ? null : cut(why);
    }

    static String cut(String text) {
        return text.length() <= WHY_CHARS_MAX ? text : text.substring(0, WHY_CHARS_MAX) + "…";
    }

    public enum Outcome {
        DONE,
        /// The run was as it should be.
        ALREADY,
        /// It cannot be done, and was not tried.
        REFUSED,
        FAILED;

        /// The word in answers and in the record.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static ControlAnswer refused(String why) {
        return new ControlAnswer(Outcome.REFUSED, "unknown", 0, why);
    }

    /// Writes it as one object, for whoever asked.
    public void write(JsonGenerator out, RunId run, ControlRequest.Command command) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", run.value());
        out.writeStringField("command", command.word());
        out.writeStringField("outcome", outcome.word());
        out.writeStringField("machine", machine);
        out.writeNumberField("tookNs", tookNs);
        out.writeStringField("why", why);
        out.writeEndObject();
    }

    String toJson() {
        ObjectNode node = JSON.createObjectNode()
                .put("outcome", outcome.word())
                .put("machine", machine)
                .put("tookNs", tookNs);
        if (why != null) {
            node.put("why", why);
        }
        return node.toString();
    }

    /// @throws IllegalArgumentException if it is none
    static ControlAnswer parse(String json) {
        try {
            JsonNode node = JSON.readTree(json);
            JsonNode why = node.path("why");
            return new ControlAnswer(
                    Outcome.valueOf(node.path("outcome").asText().toUpperCase(Locale.ROOT)),
                    node.path("machine").asText(),
                    node.path("tookNs").asLong(),
                    why.isTextual() ? why.asText() : null);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON", e);
        }
    }
}
