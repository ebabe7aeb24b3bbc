package blackbox.vm;

import blackbox.files.AtomicFiles;
import blackbox.vm.VmException.Code;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/// The JSON that this module stores and exchanges. Depth and lengths are bounded, because some of it comes
/// from the guest.
public final class Json {
    private static final int DEPTH_MAX = 32;

    private static final ObjectMapper MAPPER = mapper();

    private Json() {}

    private static ObjectMapper mapper() {
        var mapper = JsonMapper.builder()
                .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEPTH_MAX)
                        .build());
        return mapper;
    }

    /// An empty object.
    public static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    /// One line of JSON, without a line end.
    public static String line(JsonNode node) {
        return node.toString();
    }

    /// An object with one long array, `list`: a line for each of its other fields and for each element of the array.
    public static String lines(String list, JsonNode object) {
        var fields = new ArrayList<String>();
        for (var each : object.properties()) {
            String value = each.getKey().equals(list) ? elements(each.getValue()) : spaced(each.getValue());
            fields.add("  \"" + each.getKey() + "\" : " + value);
        }
        return "{\n" + String.join(",\n", fields) + "\n}\n";
    }

    private static String elements(JsonNode array) {
        var lines = new ArrayList<String>();
        array.forEach(each -> lines.add("    " + spaced(each)));
        return "[\n" + String.join(",\n", lines) + "\n  ]";
    }

    private static String spaced(JsonNode node) {
        if (!node.isObject()) {
            return node.toString();
        }
        var fields = new ArrayList<String>();
        node.properties().forEach(each -> fields.add("\"" + each.getKey() + "\": " + each.getValue()));
        return "{" + String.join(", ", fields) + "}";
    }

    /// Reads one document.
    ///
    /// @throws JsonProcessingException when it is not one
    public static JsonNode parse(String text) throws JsonProcessingException {
        return MAPPER.readTree(text);
    }

    /// Reads a document of a known form.
    public static <T> T parse(String text, Class<T> form) throws JsonProcessingException {
        return MAPPER.readValue(text, form);
    }

    /// The value as a tree.
    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /// Reads a file of a known form.
    public static <T> T read(Path file, Class<T> form, Code onFailure) throws VmException {
        try {
            return MAPPER.readValue(Files.readString(file), form);
        } catch (IOException e) {
            throw new VmException(onFailure, file + " could not be read", e);
        }
    }

    /// Reads a cache file: null if it is missing, damaged, or in the form of another version.
    public static <T> @Nullable T cached(Path file, Class<T> form) {
        try {
            return MAPPER.readerFor(form)
                    .with(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                    .with(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
                    .readValue(Files.readString(file));
        } catch (IOException e) {
            return null;
        }
    }

    /// Writes `value` durably, in a form that people can read, too ([AtomicFiles]).
    public static void write(Path file, Object value) throws VmException {
        try {
            String text = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n";
            AtomicFiles.onDisk().replace(file, text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be written", e);
        }
    }
}
