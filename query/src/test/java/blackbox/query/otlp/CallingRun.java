package blackbox.query.otlp;

import static blackbox.query.why.ToolRun.ns;

import blackbox.evidence.store.Recordings;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.otlp.RunTrace.Programs;
import blackbox.query.why.ToolRun;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A run of an agent that calls models and MCP servers, with all that a recorder tells of it; times are milliseconds
/// from its start. `LONE` in a text becomes a surrogate that stands alone.
final class CallingRun {

    static final int AGENT = 100;
    static final Endpoint TOOLS_AT = new Endpoint("10.0.3.8", 8443);
    private static final ObjectMapper JSON = new ObjectMapper();

    final ToolRun agent;

    CallingRun(Path folder) throws IOException {
        agent = new ToolRun(folder);
        agent.runtime(AGENT, 4000);
    }

    /// An answered call, as a recorder tells it.
    static ObjectNode answered(long askedMs) {
        ObjectNode detail = JSON.createObjectNode()
                .put("number", 0)
                .put("provider", "anthropic")
                .put("requestModel", "model-latest")
                .put("responseModel", "model-1")
                .put("responseId", "msg_1")
                .put("stream", true)
                .put("status", 200)
                .put("stopReason", "tool_use")
                .put("complete", true)
                .put("inputTokens", 1200)
                .put("outputTokens", 34)
                .put("cacheReadTokens", 800)
                .putNull("cacheCreationTokens")
                .put("reasoningTokens", 5)
                .put("costMicros", 4100)
                .put("askedAtNs", ns(askedMs))
                .put("answeredAtNs", ns(askedMs + 2));
        detail.putArray("toolResults");
        return detail;
    }

    /// Returns the event's index, as the others do.
    long model(long overMs, String api, ObjectNode detail) {
        return call(Kind.LLM_CALL, overMs, api, detail, ToolRun.MODEL_AT, ToolRun.MODEL);
    }

    long call(
            Kind kind, long overMs, @Nullable String what, ObjectNode detail, Endpoint remote, @Nullable String host) {
        agent.run.at(ns(overMs));
        return agent.run.add(new Event.AgentCall(
                kind,
                EventHeader.host(ns(overMs)),
                what == null ? null : Text.of(what),
                ToolRun.local(4000),
                remote,
                host == null ? null : Text.of(host),
                detail.toString().replace("LONE", "\\ud800")));
    }

    /// An answered request to an MCP server, as a recorder tells it.
    static ObjectNode request(long askedMs, long wholeMs) {
        return JSON.createObjectNode()
                .put("number", 0)
                .put("session", "s-1")
                .put("id", "7")
                .put("name", "search")
                .put("status", 200)
                .put("answered", true)
                .put("askedAtNs", ns(askedMs))
                .put("wholeAtNs", ns(wholeMs));
    }

    RunTrace trace(Recordings recordings, Content content) throws IOException {
        return trace(recordings, content, Programs.LEFT_OUT);
    }

    RunTrace trace(Recordings recordings, Content content, Programs programs) throws IOException {
        return RunTrace.collect(recordings, agent.run.run, content, programs);
    }

    static String written(RunTrace trace) throws IOException {
        var lines = new StringWriter();
        trace.write(lines);
        return lines.toString();
    }

    /// What a reader of the closed run's trace finds, without contents.
    Otlp exported() throws Exception {
        return Otlp.read(written(trace(agent.recordings(), Content.LEFT_OUT)));
    }

    /// Two turns with a command between them, and a request to an MCP server.
    long twoTurns() {
        long first = model(30, "anthropic-messages", answered(10));
        ObjectNode use = JSON.createObjectNode()
                .put("number", 0)
                .put("type", "tool_use")
                .put("id", "use-1")
                .put("wholeAtNs", ns(20))
                .put("arguments", "{\"command\":\"make install\"}")
                .put("argumentsTruncated", false);
        call(Kind.LLM_TOOL, 30, "shell", use, ToolRun.MODEL_AT, ToolRun.MODEL);
        agent.start(40, 200, AGENT, "bash", "-lc", "make install");
        ObjectNode second = answered(100);
        second.withArray("toolResults").add("use-1");
        model(110, "anthropic-messages", second.put("number", 1));
        call(Kind.MCP_CALL, 130, "tools/call", request(120, 125), TOOLS_AT, "tools.example");
        return first;
    }

    long mcp(long overMs, @Nullable String method, ObjectNode detail) {
        return call(Kind.MCP_CALL, overMs, method, detail, TOOLS_AT, null);
    }
}
