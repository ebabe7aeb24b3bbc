package blackbox.rules.sigma;

import blackbox.rules.RuleException;
import blackbox.rules.RuleException.Code;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// Reads the documents of a YAML 1.2 text into maps, lists, texts, numbers and truth values.
final class Yaml {
    private static final int OCTETS_MAX = 1 << 20;
    private static final int DEPTH_MAX = 32;

    private Yaml() {}

    static List<Map<?, ?>> documents(byte[] octets) throws RuleException {
        if (octets.length > OCTETS_MAX) {
            throw malformed("it is longer than " + OCTETS_MAX + " octets");
        }
        var settings = LoadSettings.builder()
                .setLabel("rule")
                .setAllowDuplicateKeys(false)
                .setAllowRecursiveKeys(false)
                .setMaxAliasesForCollections(0)
                .setCodePointLimit(OCTETS_MAX)
                .build();
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString();
            requireFlat(settings, text);
            var documents = new ArrayList<Map<?, ?>>();
            for (Object document : new Load(settings).loadAllFromString(text)) {
                if (document instanceof Map<?, ?> map) {
                    documents.add(map);
                } else if (document != null) {
                    throw malformed("a rule is a mapping of keys to values");
                }
            }
            return documents;
        } catch (CharacterCodingException _) {
            throw malformed("it is not UTF-8");
        } catch (MarkedYamlEngineException e) {
            String at = e.getProblemMark()
                    .map(mark -> ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1))
                    .orElse("");
            throw malformed("it is no YAML" + at + ": " + e.getProblem());
        } catch (YamlEngineException | NumberFormatException e) {
            throw malformed("it is no YAML: "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
    }

    /// The reader of documents calls itself for each level.
    private static void requireFlat(LoadSettings settings, String text) throws RuleException {
        int depth = 0;
        for (Event event : new Parse(settings).parseString(text)) {
            depth += switch (event.getEventId()) {
                case MappingStart, SequenceStart -> 1;
                case MappingEnd, SequenceEnd -> -1;
                default -> 0;
            };
            if (depth > DEPTH_MAX) {
                throw malformed("lists and mappings are nested deeper than " + DEPTH_MAX);
            }
        }
    }

    static RuleException malformed(String why) {
        return new RuleException(Code.MALFORMED, why);
    }

    static RuleException unsupported(String why) {
        return new RuleException(Code.UNSUPPORTED, why);
    }
}
