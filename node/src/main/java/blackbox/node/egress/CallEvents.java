package blackbox.node.egress;

import blackbox.calls.Arguments;
import blackbox.calls.CallError;
import blackbox.calls.McpCall;
import blackbox.calls.ModelCall;
import blackbox.calls.ToolUse;
import blackbox.calls.Usage;
import blackbox.gateway.egress.HttpExchange;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Makes events of the calls that an exchange made.
///
/// @param atNs when the exchange was over
/// @param times those of the exchange
record CallEvents(HttpExchange exchange, long atNs, Times times) {
    /// A leaf has at most 65,535 octets; the rest of an event is small.
    private static final int DETAIL_BYTES_MAX = 48 << 10;

    private static final int RESULTS_MAX = 256;
    private static final ObjectMapper JSON = new ObjectMapper();

    /// On the host's clock, in nanoseconds since 1970.
    ///
    /// @param askedNs when the head of the request had come
    /// @param sentNs when the last of its body had been passed on
    /// @param answeredNs when the head of the answer was passed on; null without one
    /// @param pieces of the answer's body, decoded
    record Times(long askedNs, long sentNs, @Nullable Long answeredNs, PieceTimes pieces) {}

    /// @param fresh the results of tools that no earlier request brought
    Event model(ModelCall call, List<String> fresh, Budgets.Cost cost) {
        ModelCall.Request asked = call.request();
        ModelCall.Response answer = call.response();
        ObjectNode detail = detail();
        detail.put("provider", call.api().provider())
                .put("requestModel", asked.model())
                .put("responseModel", answer.model())
                .put("responseId", answer.id())
                .put("stream", asked.stream())
                .put("messages", asked.messages())
                .put("status", answer.status())
                .put("stopReason", answer.stopReason())
                .put("complete", answer.complete());
        usage(detail, answer.usage());
        detail.put("costMicros", cost.micros()).put("tokensEstimated", cost.estimated());
        detail.put("toolUses", answer.toolUses().size() + answer.toolUsesLeftOff());
        error(detail, answer.error());
        notRead(detail, call.notRead());
        detail.put("askedAtNs", times.askedNs).put("sentAtNs", times.sentNs).put("answeredAtNs", times.answeredNs);
        results(detail, asked, fresh);
        String api = call.api().name().toLowerCase(Locale.ROOT).replace('_', '-');
        return event(Kind.LLM_CALL, api, detail);
    }

    /// As many of the latest as there is room for.
    private static void results(ObjectNode detail, ModelCall.Request asked, List<String> fresh) {
        long all = asked.toolResults().size() + asked.toolResultsLeftOff();
        int count = Math.min(RESULTS_MAX, fresh.size());
        do {
            var results = detail.putArray("toolResults");
            fresh.subList(fresh.size() - count, fresh.size()).forEach(results::add);
            detail.put("toolResultsBefore", all - count);
            count /= 2;
        } while (count > 0 && length(detail) > DETAIL_BYTES_MAX);
    }

    Event tool(ToolUse use) {
        ObjectNode detail = detail();
        detail.put("use", use.index())
                .put("type", use.type())
                .put("id", use.id())
                .put("complete", use.complete())
                .put("wholeAtNs", times.pieces.passed(use.endOffset(), atNs));
        arguments(detail, use.arguments());
        return event(Kind.LLM_TOOL, use.name(), detail);
    }

    Event mcp(McpCall call) {
        McpCall.Answer answer = call.answer();
        ObjectNode detail = detail();
        detail.put("session", call.session())
                .put("id", call.id())
                .put("name", call.name())
                .put("status", call.status())
                .put("answered", answer != null)
                .put("toolError", answer == null ? null : answer.toolError());
        error(detail, answer == null ? null : answer.error());
        notRead(detail, call.notRead());
        detail.put("askedAtNs", times.askedNs).put("sentAtNs", times.sentNs);
        detail.put("wholeAtNs", answer == null ? null : times.pieces.passed(answer.endOffset(), atNs));
        arguments(detail, call.arguments());
        return event(Kind.MCP_CALL, call.method(), detail);
    }

    private ObjectNode detail() {
        return JSON.createObjectNode().put("number", exchange.number());
    }

    private static void usage(ObjectNode detail, Usage usage) {
        detail.put("inputTokens", usage.inputTokens())
                .put("outputTokens", usage.outputTokens())
                .put("cacheReadTokens", usage.cacheReadTokens())
                .put("cacheCreationTokens", usage.cacheCreationTokens())
                .put("reasoningTokens", usage.reasoningTokens());
    }

    private static void error(ObjectNode detail, @Nullable CallError error) {
        if (error != null) {
            detail.putObject("error").put("type", error.type()).put("message", error.message());
        }
    }

    private static void notRead(ObjectNode detail, List<String> why) {
        if (!why.isEmpty()) {
            var all = detail.putArray("notRead");
            why.forEach(all::add);
        }
    }

    /// As much of them as there is room for.
    private static void arguments(ObjectNode detail, @Nullable Arguments arguments) {
        if (arguments == null) {
            return;
        }
        String text = arguments.text();
        boolean cut = arguments.truncated();
        do {
            detail.put("arguments", text).put("argumentsTruncated", cut);
            cut = true;
            text = text.substring(0, text.length() / 2);
        } while (!text.isEmpty() && length(detail) > DETAIL_BYTES_MAX);
    }

    private static int length(ObjectNode detail) {
        return detail.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    private Event event(Kind kind, @Nullable String what, ObjectNode detail) {
        return new Event.AgentCall(
                kind,
                EventHeader.host(atNs),
                text(what),
                exchange.flow().guest(),
                exchange.flow().remote(),
                text(exchange.host()),
                detail.toString());
    }

    private static @Nullable Text text(@Nullable String value) {
        return value == null ? null : Text.of(value);
    }
}
