package blackbox.query.calls;

import blackbox.evidence.text.Timestamps;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// [AgentCalls] as fields of a JSON object: `models`, `modelCalls` and `mcpCalls`. Each call has its event's index,
/// time
/// and peer, and all that is in the event's detail.
public final class CallsJson {

    private static final ObjectMapper JSON = new ObjectMapper();

    private CallsJson() {}

    /// Writes the fields into an object that the caller started.
    public static void writeFields(JsonGenerator out, AgentCalls calls) throws IOException {
        TokenSums.write(out, calls.sums());
        out.writeArrayFieldStart("modelCalls");
        for (AgentCalls.ToModel call : calls.models()) {
            begin(out, call.index(), call.atNs(), call.host());
            out.writeStringField("api", call.api());
            out.writeStringField("model", call.model());
            detail(out, call.detail());
            out.writeArrayFieldStart("tools");
            for (AgentCalls.Tool tool : call.tools()) {
                out.writeStartObject();
                out.writeNumberField("index", tool.index());
                out.writeStringField("name", tool.name());
                detail(out, tool.detail());
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("mcpCalls");
        for (AgentCalls.ToMcp call : calls.mcp()) {
            begin(out, call.index(), call.atNs(), call.host());
            out.writeStringField("method", call.method());
            detail(out, call.detail());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void begin(JsonGenerator out, long index, long atNs, String host) throws IOException {
        out.writeStartObject();
        out.writeNumberField("index", index);
        out.writeStringField("at", Timestamps.format(atNs));
        out.writeStringField("host", host);
    }

    /// Its fields; times in the form of all others.
    private static void detail(JsonGenerator out, JsonNode detail) throws IOException {
        for (var field : detail.properties()) {
            String name = field.getKey();
            if (name.endsWith("AtNs")) {
                out.writeStringField(name.substring(0, name.length() - 2), time(field.getValue()));
            } else {
                out.writeFieldName(name);
                JSON.writeTree(out, field.getValue());
            }
        }
    }

    private static @Nullable String time(JsonNode ns) {
        return ns.isIntegralNumber() ? Timestamps.format(ns.longValue()) : null;
    }
}
