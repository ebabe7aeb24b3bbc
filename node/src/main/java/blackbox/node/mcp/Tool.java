package blackbox.node.mcp;

import blackbox.query.QueryException;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JsonSchema;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A tool that only reads.
record Tool(String name, String title, String description, List<Input> inputs, Handler handler) {

    /// Answers a call.
    @FunctionalInterface
    interface Handler {
        Reply answer(Arguments given) throws QueryException, IOException, InterruptedException;
    }

    /// An answer.
    ///
    /// @param caution what is to be said of its run besides; or null
    record Reply(String json, @Nullable String caution) {}

    /// As clients see it.
    McpSchema.Tool definition() {
        var properties = new LinkedHashMap<String, Object>();
        inputs.forEach(input -> properties.put(input.name(), input.schema()));
        List<String> required =
                inputs.stream().filter(Input::isRequired).map(Input::name).toList();
        return McpSchema.Tool.builder()
                .name(name)
                .title(title)
                .description(description)
                .inputSchema(new JsonSchema("object", properties, required, false, null, null))
                .annotations(new ToolAnnotations(title, true, false, true, false, null))
                .build();
    }

    Reply answer(@Nullable Map<String, Object> given) throws QueryException, IOException, InterruptedException {
        return handler.answer(
                Arguments.of(given, inputs.stream().map(Input::name).toList()));
    }
}
