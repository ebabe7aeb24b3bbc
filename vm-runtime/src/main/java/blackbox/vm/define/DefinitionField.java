package blackbox.vm.define;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// A value in a definition's file, with the line that it is on: JSON with comments (`//` and `/* */`) and
/// with commas after last elements. What is not as expected is refused with file, line and field.
///
/// @param label what the file is called in messages
/// @param line from 1
/// @param path of the field, for example `files[2].mode`; empty for the whole
/// @param value text, number, Boolean, `List<DefinitionField>` or `SequencedMap<String,
///     DefinitionField>`; null for
/// null
record DefinitionField(
        String label, int line, String path, @Nullable Object value) {
    private static final int DEPTH_MAX = 16;
    private static final int CHARS_MAX = 4 << 20;
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
            .build();

    /// Reads a file's text.
    ///
    /// @throws VmException `IMAGE_DEFINITION`
    static DefinitionField read(String text, String label) throws VmException {
        if (text.length() > CHARS_MAX) {
            throw new VmException(Code.IMAGE_DEFINITION, label + " has more than 4 MiB; is it a definition?");
        }
        try (JsonParser parser = FACTORY.createParser(text)) {
            if (parser.nextToken() == null) {
                throw new VmException(
                        Code.IMAGE_DEFINITION, label + " is empty; 'blackbox image init' writes one to begin with");
            }
            DefinitionField whole = value(parser, label, "");
            if (parser.nextToken() != null) {
                throw whole.refused("there is more after the end of the definition");
            }
            return whole;
        } catch (JsonProcessingException e) {
            var at = e.getLocation();
            throw new VmException(
                    Code.IMAGE_DEFINITION,
                    label + (at == null ? "" : ", line " + at.getLineNr() + ", column " + at.getColumnNr()) + ": "
                            + e.getOriginalMessage(),
                    e);
        } catch (IOException e) {
            throw new VmException(Code.IO, label + " could not be read", e);
        }
    }

    private static DefinitionField value(JsonParser parser, String label, String path) throws IOException, VmException {
        int line = parser.currentTokenLocation().getLineNr();
        Object value = switch (parser.currentToken()) {
            case START_OBJECT -> {
                var fields = new LinkedHashMap<String, DefinitionField>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    fields.put(name, value(parser, label, path.isEmpty() ? name : path + "." + name));
                }
                yield fields;
            }
            case START_ARRAY -> {
                var elements = new ArrayList<DefinitionField>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(value(parser, label, path + "[" + elements.size() + "]"));
                }
                yield elements;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
            case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
            default -> null;
        };
        return new DefinitionField(label, line, path, value);
    }

    /// The fields of an object that may have only these.
    SequencedMap<String, DefinitionField> fields(List<String> known) throws VmException {
        SequencedMap<String, DefinitionField> fields = fields();
        for (Map.Entry<String, DefinitionField> each : fields.entrySet()) {
            if (!known.contains(each.getKey())) {
                throw each.getValue().refused("there is no such field; it may be one of " + String.join(", ", known));
            }
        }
        return fields;
    }

    /// The fields of an object that may have any.
    @SuppressWarnings("unchecked") // nothing else makes maps here
    SequencedMap<String, DefinitionField> fields() throws VmException {
        if (value instanceof SequencedMap<?, ?> fields) {
            return (SequencedMap<String, DefinitionField>) fields;
        }
        throw refused("it has to be an object, { … }");
    }

    /// The elements of a list.
    @SuppressWarnings("unchecked") // nothing else makes lists here
    List<DefinitionField> elements() throws VmException {
        if (value instanceof List<?> elements) {
            return (List<DefinitionField>) elements;
        }
        throw refused("it has to be a list, [ … ]");
    }

    /// A text.
    String text() throws VmException {
        if (value instanceof String text) {
            return text;
        }
        throw refused("it has to be a text in quotes");
    }

    /// The failure to say about this field.
    VmException refused(String why) {
        return refused(why, null);
    }

    VmException refused(String why, @Nullable Throwable cause) {
        return new VmException(
                Code.IMAGE_DEFINITION,
                label + ", line " + line + ": " + (path.isEmpty() ? "" : path + ": ") + why,
                cause);
    }
}
