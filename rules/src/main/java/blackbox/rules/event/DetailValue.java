package blackbox.rules.event;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import org.jspecify.annotations.Nullable;

/// Values in the column `detail`. One reader reads them for all: others' take of what is no proper JSON differs.
public final class DetailValue {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private DetailValue() {}

    /// The object; nothing is in it if the text is no JSON.
    static JsonNode read(@Nullable String detail) {
        try {
            return detail == null ? JSON.nullNode() : JSON.readTree(detail);
        } catch (JsonProcessingException _) {
            return JSON.nullNode();
        }
    }

    /// The value of a key of the object; null if it has none. A text is itself, anything else is JSON.
    public static @Nullable String of(@Nullable String detail, String key) {
        return of(read(detail), key);
    }

    static @Nullable String of(JsonNode object, String key) {
        JsonNode value = object.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        return value.isValueNode() ? value.asText() : value.toString();
    }
}
