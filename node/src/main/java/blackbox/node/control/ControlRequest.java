package blackbox.node.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a run's recorder is asked to do, as one line of JSON.
///
/// @param reason why, in one line of at most 500 characters
/// @param via how it was asked, `cli`, `api` or `rule`
/// @param subject for whom the process at the other end asks, if not for its own user; its word alone
public record ControlRequest(
        Command command,
        String reason,
        String via,
        @Nullable String subject) {

    private static final int REASON_CHARS_MAX = 500;
    static final int LINE_OCTETS_MAX = 8 << 10;
    private static final int WORD_CHARS_MAX = 200;
    private static final JsonMapper JSON = new JsonMapper();

    public enum Command {
        /// The guest's processors stop until `RESUME`.
        PAUSE,
        RESUME,
        /// The machine ends at once: nothing comes back from it.
        KILL,
        /// Nothing is done, except to try the way.
        PROBE;

        /// The word in requests and in the record.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// @throws IllegalArgumentException if a text is too long, or not one line
    public ControlRequest {
        check("the reason", reason, REASON_CHARS_MAX);
        check("the way", via, WORD_CHARS_MAX);
        if (subject != null) {
            check("the subject", subject, WORD_CHARS_MAX);
        }
    }

    static ControlRequest probe() {
        return new ControlRequest(Command.PROBE, "", "recorder", null);
    }

    private static void check(String what, String text, int charsMax) {
        if (text.length() > charsMax) {
            throw new IllegalArgumentException(what + " has more than " + charsMax + " characters");
        }
        if (text.codePoints().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(what + " must be one line without control characters");
        }
    }

    String toJson() {
        ObjectNode node = JSON.createObjectNode()
                .put("command", command.word())
                .put("reason", reason)
                .put("via", via);
        if (subject != null) {
            node.put("subject", subject);
        }
        return node.toString();
    }

    /// @throws IllegalArgumentException with what is wrong with it
    static ControlRequest parse(String json) {
        JsonNode node;
        try {
            node = JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("it is not JSON", e);
        }
        JsonNode subject = node.path("subject");
        return new ControlRequest(
                command(node.path("command").asText()),
                node.path("reason").asText(),
                node.path("via").asText(),
                subject.isTextual() ? subject.asText() : null);
    }

    private static Command command(String word) {
        for (Command each : Command.values()) {
            if (each.word().equals(word)) {
                return each;
            }
        }
        throw new IllegalArgumentException("'" + word + "' is not a command");
    }
}
