package blackbox.query.otlp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.util.JsonFormat;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.TracesData;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// Reads OTLP/JSON with OpenTelemetry's own definition of it, strictly: no field that it does not have, ids in hex,
/// 64-bit numbers as strings, enums as numbers.
record Otlp(List<ResourceSpans> resources) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> IDS = Set.of("traceId", "spanId", "parentSpanId");
    private static final Set<String> WIDE = Set.of("intValue", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano");
    private static final Set<String> ENUMS = Set.of("kind", "code");

    static Otlp read(String lines) throws Exception {
        var resources = new ArrayList<ResourceSpans>();
        assertTrue(lines.endsWith("\n"), lines);
        for (String line : lines.split("\n", -1)) {
            if (!line.isEmpty()) {
                JsonNode json = JSON.readTree(line);
                check(json);
                var data = TracesData.newBuilder();
                JsonFormat.parser().merge(json.toString(), data); // refuses fields that it does not know
                var request = ExportTraceServiceRequest.newBuilder();
                JsonFormat.parser().merge(json.toString(), request); // what a receiver reads it as
                assertEquals(data.getResourceSpansList(), request.getResourceSpansList());
                resources.addAll(data.build().getResourceSpansList());
            }
        }
        return new Otlp(resources);
    }

    /// Makes base64 of ids, as the parser, which knows nothing of OTLP's exceptions, wants them.
    private static void check(JsonNode json) {
        if (json instanceof ObjectNode object) {
            for (Map.Entry<String, JsonNode> field : List.copyOf(object.properties())) {
                String name = field.getKey();
                JsonNode value = field.getValue();
                if (IDS.contains(name)) {
                    assertTrue(value.asText().matches("[0-9a-f]+"), value::toString);
                    byte[] octets = HexFormat.of().parseHex(value.asText());
                    object.put(name, Base64.getEncoder().encodeToString(octets));
                } else if (WIDE.contains(name)) {
                    assertTrue(value.isTextual(), name);
                } else if (ENUMS.contains(name)) {
                    assertTrue(value.isIntegralNumber(), name);
                }
            }
        }
        json.forEach(Otlp::check);
    }

    List<Span> spans() {
        return resources.stream()
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .flatMap(scope -> scope.getSpansList().stream())
                .toList();
    }

    /// The only one with that name.
    Span span(String name) {
        List<Span> named =
                spans().stream().filter(span -> span.getName().equals(name)).toList();
        assertTrue(
                named.size() == 1,
                () -> named.size() + " spans '" + name + "' of "
                        + spans().stream().map(Span::getName).toList());
        return named.getFirst();
    }

    static String id(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    /// Attributes as text, longs, booleans and lists of them.
    static Map<String, Object> attributes(List<KeyValue> attributes) {
        var all = new HashMap<String, Object>();
        for (KeyValue each : attributes) {
            assertFalse(all.containsKey(each.getKey()), each.getKey());
            all.put(each.getKey(), value(each.getValue()));
        }
        return all;
    }

    private static Object value(AnyValue value) {
        return switch (value.getValueCase()) {
            case STRING_VALUE -> value.getStringValue();
            case INT_VALUE -> value.getIntValue();
            case BOOL_VALUE -> value.getBoolValue();
            case ARRAY_VALUE ->
                value.getArrayValue().getValuesList().stream().map(Otlp::value).toList();
            default -> throw new AssertionError(value.toString());
        };
    }

    static Map<String, Object> attributes(Span span) {
        return attributes(span.getAttributesList());
    }

    static long index(Span span) {
        return (Long) Objects.requireNonNull(attributes(span).get("blackbox.event.index"));
    }
}
