package blackbox.query.run;

import blackbox.schemas.OctetText;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/// The command in a run's first leaf (`schemas/events.md`): `command` has the words as text, and for those
/// that are not UTF-8 `commandOctets` has the octets in base64 under the word's position. So it is text for
/// those who only show it, and exact for those who run it again.
public final class SealedCommand {
    private static final String WORDS = "command";
    private static final String OCTETS = "commandOctets";

    private SealedCommand() {}

    /// @param command each word [OctetText]
    public static void put(ObjectNode leaf, List<String> command) {
        var words = leaf.putArray(WORDS);
        command.forEach(each -> words.add(OctetText.shown(each)));
        for (int i = 0; i < command.size(); i++) {
            if (!OctetText.isText(command.get(i))) {
                byte[] octets = OctetText.octets(command.get(i));
                leaf.withObject("/" + OCTETS)
                        .put(Integer.toString(i), Base64.getEncoder().encodeToString(octets));
            }
        }
    }

    /// The words that were started, each [OctetText].
    ///
    /// @throws IllegalArgumentException when the leaf is malformed
    public static List<String> of(JsonNode leaf) {
        var command = new ArrayList<String>();
        for (JsonNode word : leaf.path(WORDS)) {
            JsonNode octets = leaf.path(OCTETS).path(Integer.toString(command.size()));
            command.add(octets.isMissingNode() ? word.asText() : OctetText.of(decoded(octets)));
        }
        return command;
    }

    private static byte[] decoded(JsonNode octets) {
        return Base64.getDecoder().decode(octets.asText());
    }
}
