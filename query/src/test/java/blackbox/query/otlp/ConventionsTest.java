package blackbox.query.otlp;

import static blackbox.query.otlp.CallingRun.answered;
import static blackbox.query.otlp.CallingRun.request;
import static blackbox.query.otlp.CallingRun.written;
import static blackbox.query.otlp.Otlp.attributes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.otlp.RunTrace.Programs;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.semconv.ErrorAttributes;
import io.opentelemetry.semconv.HttpAttributes;
import io.opentelemetry.semconv.NetworkAttributes;
import io.opentelemetry.semconv.ServerAttributes;
import io.opentelemetry.semconv.ServiceAttributes;
import io.opentelemetry.semconv.incubating.GenAiIncubatingAttributes;
import io.opentelemetry.semconv.incubating.JsonrpcIncubatingAttributes;
import io.opentelemetry.semconv.incubating.McpIncubatingAttributes;
import io.opentelemetry.semconv.incubating.ProcessIncubatingAttributes;
import io.opentelemetry.semconv.incubating.RpcIncubatingAttributes;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That what is written is in OpenTelemetry's words.
class ConventionsTest {

    @TempDir
    Path folder;

    /// All names but Blackbox's own are OpenTelemetry's, with its types.
    @Test
    void namesAreThoseOfTheConventions() throws Exception {
        var run = new CallingRun(folder);
        run.twoTurns();
        ObjectNode refused = request(200, 205);
        refused.putObject("error").put("type", "-32602").put("message", "no");
        run.mcp(210, "tools/call", refused);
        run.mcp(220, "prompts/get", request(212, 215));
        run.mcp(230, "resources/read", request(222, 225));
        run.model(
                240, "openai-chat", answered(232).put("cacheCreationTokens", 1).put("status", 500));
        Map<String, AttributeType> known = conventions();
        known.put("gen_ai.tool.call.arguments", AttributeType.STRING); // of any type, which the library leaves out
        var used = new HashSet<String>();
        Otlp otlp = Otlp.read(written(run.trace(run.agent.recordings(), Content.INCLUDED, Programs.INCLUDED)));
        ResourceSpans spans = otlp.resources().getFirst();
        Otlp.attributes(spans.getResource().getAttributesList())
                .forEach((name, value) -> assertKnown(known, used, name, value));
        for (Span span : otlp.spans()) {
            attributes(span).forEach((name, value) -> assertKnown(known, used, name, value));
            span.getEventsList()
                    .forEach(event -> Otlp.attributes(event.getAttributesList())
                            .forEach((name, value) -> assertKnown(known, used, name, value)));
        }
        assertTrue(used.size() > 25, used::toString);
        Set<Object> operations = new HashSet<>();
        for (Field field : GenAiIncubatingAttributes.GenAiOperationNameIncubatingValues.class.getFields()) {
            operations.add(field.get(null));
        }
        assertTrue(operations.containsAll(
                Set.of("chat", "generate_content", "text_completion", "execute_tool", "invoke_agent")));
    }

    private static void assertKnown(Map<String, AttributeType> known, Set<String> used, String name, Object value) {
        if (name.startsWith("blackbox.")) {
            return;
        }
        used.add(name);
        AttributeType type = switch (value) {
            case String _ -> AttributeType.STRING;
            case Long _ -> AttributeType.LONG;
            case Boolean _ -> AttributeType.BOOLEAN;
            default -> AttributeType.STRING_ARRAY;
        };
        assertEquals(known.get(name), type, name);
    }

    private static Map<String, AttributeType> conventions() throws IllegalAccessException {
        var known = new HashMap<String, AttributeType>();
        for (Class<?> of : List.of(
                ErrorAttributes.class,
                HttpAttributes.class,
                NetworkAttributes.class,
                ServerAttributes.class,
                ServiceAttributes.class,
                GenAiIncubatingAttributes.class,
                JsonrpcIncubatingAttributes.class,
                McpIncubatingAttributes.class,
                ProcessIncubatingAttributes.class,
                RpcIncubatingAttributes.class)) {
            for (Field field : of.getFields()) {
                if (field.get(null) instanceof AttributeKey<?> key && !field.isAnnotationPresent(Deprecated.class)) {
                    known.put(key.getKey(), key.getType());
                }
            }
        }
        assertNotEquals(0, known.size());
        return known;
    }
}
