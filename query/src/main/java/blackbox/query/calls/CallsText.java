package blackbox.query.calls;

import blackbox.evidence.text.Printable;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;

/// [AgentCalls] as text for people.
public final class CallsText {

    private static final int ARGUMENTS_CHARS_MAX = 120;

    private CallsText() {}

    /// Prints them.
    public static void print(PrintWriter out, AgentCalls calls) {
        out.println("Model calls (" + calls.models().size() + ")");
        for (AgentCalls.ToModel call : calls.models()) {
            JsonNode detail = call.detail();
            out.printf(
                    "  %7d  %s at %s  %s  %s%s%n",
                    call.index(),
                    Printable.of(call.model()),
                    Printable.of(call.host()),
                    call.tokens().words(),
                    ending(detail),
                    results(detail));
            for (AgentCalls.Tool tool : call.tools()) {
                out.printf(
                        "  %7d    asks for %s  %s%n",
                        tool.index(), Printable.of(tool.name() == null ? "?" : tool.name()), arguments(tool.detail()));
            }
        }
        calls.sums().forEach(each -> out.println("  " + Printable.of(each.model()) + ": " + each.words()));
        if (!calls.mcp().isEmpty()) {
            out.println("MCP calls (" + calls.mcp().size() + ")");
        }
        for (AgentCalls.ToMcp call : calls.mcp()) {
            JsonNode detail = call.detail();
            out.printf(
                    "  %7d  %s %s at %s  %s  %s%n",
                    call.index(),
                    Printable.of(call.method() == null ? "?" : call.method()),
                    Printable.of(detail.path("name").asText("")),
                    Printable.of(call.host()),
                    outcome(detail),
                    arguments(detail));
        }
    }

    private static String ending(JsonNode detail) {
        String error = detail.path("error").path("type").textValue();
        if (error != null) {
            return "failed: " + Printable.of(error);
        }
        if (detail.path("status").asLong() == 0) {
            return "no answer";
        }
        return detail.path("complete").asBoolean()
                ? Printable.of(detail.path("stopReason").asText("ended"))
                : "status " + detail.path("status").asLong() + ", not complete";
    }

    private static String results(JsonNode detail) {
        int count = detail.path("toolResults").size();
        return count == 0 ? "" : "  brings " + (count == 1 ? "a result" : count + " results") + " of tools";
    }

    private static String outcome(JsonNode detail) {
        if (!detail.path("answered").asBoolean()) {
            return "status " + detail.path("status").asLong() + ", no answer read";
        }
        boolean failed = detail.has("error") || detail.path("toolError").asBoolean();
        return failed ? "failed" : "answered";
    }

    private static String arguments(JsonNode detail) {
        String all = detail.path("arguments").asText("");
        return all.length() <= ARGUMENTS_CHARS_MAX
                ? Printable.of(all)
                : Printable.of(all.substring(0, ARGUMENTS_CHARS_MAX)) + "…";
    }
}
