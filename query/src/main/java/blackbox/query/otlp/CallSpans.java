package blackbox.query.otlp;

import blackbox.evidence.text.Printable;
import blackbox.query.calls.Tokens;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.run.RunFacts;
import blackbox.query.why.CallTies;
import blackbox.query.why.Caused;
import blackbox.query.why.Grade;
import blackbox.query.why.Window;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Makes spans of a run's calls, as OpenTelemetry's conventions for GenAI and MCP have them: `chat MODEL` of an
/// `llm.call`, `execute_tool NAME` of an `llm.tool` whose result was brought, `tools/call NAME` of an `mcp.call`.
/// Owned by one thread.
final class CallSpans {

    /// How many spans of each sort one trace has.
    static final int EACH_MAX = 10_000;

    static final int NAME_CHARS_MAX = 128;

    private final SpanIds ids;
    private final CallTies ties;
    private final Map<Long, List<Caused.OfTool>> asked;
    private final Map<Long, List<Caused.OfTool>> brought;
    private final Content content;
    private final long charsMax;
    private final List<Span> spans = new ArrayList<>();
    private final Set<String> providers = new TreeSet<>();
    private long chars;
    private long models;
    private long tools;
    private long mcp;
    private long unkept;
    private long outOfTime;
    private long withoutResult;
    private long byProvider;
    private long withoutMethod;

    /// @param charsMax about how many characters all spans together have at most
    CallSpans(SpanIds ids, CallTies ties, Content content, long charsMax) {
        this.ids = ids;
        this.ties = ties;
        this.asked = ties.asked();
        this.brought = ties.brought();
        this.content = content;
        this.charsMax = charsMax;
    }

    /// Takes the next event of the network.
    void see(NetView event, long index) {
        switch (event) {
            case NetView.ModelCall call -> model(call, index);
            case NetView.ToolUse use -> tool(use, index);
            case NetView.McpCall call -> mcp(call, index);
            case NetView.Call _,
                    NetView.Exchange _,
                    NetView.Flow _,
                    NetView.Dns _,
                    NetView.Decision _,
                    NetView.SecretUse _,
                    NetView.Miss _ -> {}
        }
    }

    private void model(NetView.ModelCall call, long index) {
        JsonNode detail = RunFacts.detailOf(call.row());
        Long askedNs = count(detail, "askedAtNs");
        if (models >= EACH_MAX) {
            unkept++;
            return;
        }
        if (askedNs == null || call.atNs() < askedNs) {
            outOfTime++;
            return;
        }
        String provider = detail.path("provider").textValue();
        String api = text(call.what());
        String operation = operation(api);
        String model = detail.path("requestModel").textValue();
        Tokens tokens = Tokens.of(detail);
        Span.Failure failed = Failures.ofModel(detail, content);
        Attributes attributes = ids.event(index, Kind.LLM_CALL)
                .put("gen_ai.operation.name", operation)
                .put("gen_ai.provider.name", provider)
                .put("gen_ai.request.model", model)
                .put("gen_ai.request.stream", detail.path("stream").asBoolean() ? true : null)
                .put("gen_ai.response.model", detail.path("responseModel").textValue())
                .put("gen_ai.response.id", detail.path("responseId").textValue())
                .putTexts("gen_ai.response.finish_reasons", texts(detail.path("stopReason")))
                .put("gen_ai.usage.input_tokens", tokens.input())
                .put("gen_ai.usage.output_tokens", tokens.output())
                .put("gen_ai.usage.cache_read.input_tokens", tokens.cacheRead())
                .put("gen_ai.usage.cache_creation.input_tokens", tokens.cacheCreation())
                .put("gen_ai.usage.reasoning.output_tokens", tokens.reasoning());
        server(attributes, call, detail)
                .put("error.type", failed == null ? null : failed.type())
                .put("blackbox.call.api", api)
                .put("blackbox.call.complete", bool(detail, "complete"))
                .put("blackbox.call.cost_usd_micros", count(detail, "costMicros"))
                .put(
                        "blackbox.call.tokens_estimated",
                        detail.path("tokensEstimated").asBoolean() ? true : null)
                .putTexts("blackbox.not_read", texts(detail.path("notRead")));
        var details = new Span.Details(attributes, moments(detail, index), results(index), failed);
        if (keep(index, name(operation, model), Span.Kind.CLIENT, askedNs, call.atNs(), details)) {
            models++;
            providers.addAll(texts(detail.path("provider")));
        }
    }

    /// What the conventions call it; an API whose word is not among theirs is a chat.
    private static String operation(@Nullable String api) {
        return switch (api) {
            case "google-generate-content" -> "generate_content";
            case "ollama-generate" -> "text_completion";
            case null, default -> "chat";
        };
    }

    private List<Span.Event> moments(JsonNode detail, long index) {
        var moments = new ArrayList<Span.Event>();
        Long answered = count(detail, "answeredAtNs");
        if (answered != null) {
            moments.add(new Span.Event("blackbox.response_head", answered, new Attributes()));
        }
        for (Caused.OfTool tool : asked.getOrDefault(index, List.of())) {
            Caused.Used used = tool.used();
            if (used.window().fromNs() >= 0) {
                moments.add(new Span.Event(
                        "blackbox.tool_use",
                        used.window().fromNs(),
                        new Attributes()
                                .put("gen_ai.tool.name", used.name())
                                .put("gen_ai.tool.call.id", used.id())
                                .put("blackbox.event.index", used.index())
                                .put("blackbox.tool.ended", used.window().end().word())));
            }
        }
        return moments;
    }

    private List<Span.Link> results(long index) {
        return brought.getOrDefault(index, List.of()).stream()
                .map(tool -> link(tool.used().index(), "result"))
                .toList();
    }

    private Span.Link link(long index, String why) {
        return new Span.Link(
                ids.span(index), new Attributes().put("blackbox.link", why).put("blackbox.event.index", index));
    }

    private void tool(NetView.ToolUse use, long index) {
        Caused.OfTool tool = ties.tools().get(index);
        if (tool == null || tools >= EACH_MAX) {
            unkept++;
            return;
        }
        Window window = tool.used().window();
        switch (window.end()) {
            case NO_RESULT -> withoutResult++;
            case BY_PROVIDER -> byProvider++;
            case BEFORE_ASKED -> outOfTime++;
            case RESULT -> {
                if (window.fromNs() < 0 || window.toNs() < window.fromNs()) {
                    outOfTime++;
                } else {
                    tool(tool, RunFacts.detailOf(use.row()));
                }
            }
        }
    }

    private void tool(Caused.OfTool tool, JsonNode detail) {
        Caused.Used used = tool.used();
        Grade grade = tool.grade();
        Attributes attributes = ids.event(used.index(), Kind.LLM_TOOL)
                .put("gen_ai.operation.name", "execute_tool")
                .put("gen_ai.tool.name", used.name())
                .put("gen_ai.tool.call.id", used.id())
                .put("gen_ai.tool.type", "function");
        arguments(attributes, detail)
                .put("blackbox.tool.grade", grade == null ? null : grade.name())
                .putTexts("blackbox.tool.notes", tool.notes())
                .putNumbers("blackbox.tool.exec_events", verbatim(tool));
        var details = new Span.Details(attributes, List.of(), List.of(link(used.call(), "asked")), null);
        Window window = used.window();
        String name = name("execute_tool", used.name());
        if (keep(used.call(), used.index(), name, Span.Kind.INTERNAL, window.fromNs(), window.toNs(), details)) {
            tools++;
        }
    }

    /// The starts of programs that were asked for.
    private static List<Long> verbatim(Caused.OfTool tool) {
        return tool.effects().execs().stream()
                .filter(exec -> exec.grade() == Grade.A || exec.grade() == Grade.B)
                .map(Caused.Program::index)
                .toList();
    }

    private void mcp(NetView.McpCall call, long index) {
        JsonNode detail = RunFacts.detailOf(call.row());
        Long askedNs = count(detail, "askedAtNs");
        Long wholeNs = count(detail, "wholeAtNs");
        long endNs = wholeNs == null ? call.atNs() : wholeNs;
        String method = text(call.what());
        if (mcp >= EACH_MAX) {
            unkept++;
            return;
        }
        if (method == null) {
            withoutMethod++;
            return;
        }
        if (askedNs == null || endNs < askedNs) {
            outOfTime++;
            return;
        }
        String target = detail.path("name").textValue();
        boolean ofTool = method.equals("tools/call");
        boolean ofPrompt = method.equals("prompts/get");
        boolean ofResource = method.startsWith("resources/") || method.equals("notifications/resources/updated");
        Span.Failure failed = Failures.ofMcp(detail, content);
        Attributes attributes = ids.event(index, Kind.MCP_CALL)
                .put("mcp.method.name", method)
                .put("gen_ai.operation.name", ofTool ? "execute_tool" : null)
                .put("gen_ai.tool.name", ofTool ? target : null)
                .put("gen_ai.prompt.name", ofPrompt ? target : null)
                .put("mcp.resource.uri", ofResource ? target : null)
                .put("mcp.session.id", detail.path("session").textValue())
                .put("jsonrpc.request.id", Failures.id(detail))
                .put("network.transport", "tcp")
                .put("network.protocol.name", "http");
        server(attributes, call, detail)
                .put("error.type", failed == null ? null : failed.type())
                .put(
                        "rpc.response.status_code",
                        detail.path("error").path("type").textValue())
                .putTexts("blackbox.not_read", texts(detail.path("notRead")));
        if (ofTool || ofPrompt) {
            arguments(attributes, detail);
        }
        var details = new Span.Details(attributes, List.of(), List.of(), failed);
        String name = name(method, ofTool || ofPrompt ? target : null);
        if (keep(index, name, Span.Kind.CLIENT, askedNs, endNs, details)) {
            mcp++;
        }
    }

    private static Attributes server(Attributes attributes, NetView.AgentCall call, JsonNode detail) {
        String address = text(call.host() == null ? call.remoteIp() : call.host());
        Long status = count(detail, "status");
        return attributes
                .put("server.address", address)
                .put("server.port", address == null ? null : call.remotePort())
                .put("http.response.status_code", status == null || status == 0 ? null : status);
    }

    /// Only if somebody asked for contents. As text, since few consumers take nested values.
    private Attributes arguments(Attributes attributes, JsonNode detail) {
        return content == Content.LEFT_OUT
                ? attributes
                : attributes
                        .put(
                                "gen_ai.tool.call.arguments",
                                detail.path("arguments").textValue())
                        .put(
                                "blackbox.tool.arguments_truncated",
                                detail.path("argumentsTruncated").asBoolean() ? true : null);
    }

    private static String name(String operation, @Nullable String of) {
        return Printable.of(of == null || of.isEmpty() ? operation : operation + " " + of, NAME_CHARS_MAX);
    }

    private boolean keep(long index, String name, Span.Kind kind, long startNs, long endNs, Span.Details details) {
        return keep(index, index, name, kind, startNs, endNs, details);
    }

    /// @param call below the tool within which this one was made
    private boolean keep(
            long call, long index, String name, Span.Kind kind, long startNs, long endNs, Span.Details details) {
        CallTies.Within within = ties.within().get(call);
        if (within != null) {
            details.attributes()
                    .put("blackbox.within.event", within.tool())
                    .put("blackbox.within.grade", within.grade().name());
        }
        String parent = within == null ? null : ids.span(within.tool());
        var span = new Span(ids.span(index), parent, name, kind, startNs, endNs, details);
        if (chars + span.chars() > charsMax) {
            unkept++;
            return false;
        }
        chars += span.chars();
        spans.add(span);
        return true;
    }

    /// The spans, all below `root`, with links only to those that are there.
    List<Span> below(@Nullable Span root) {
        var known = new HashSet<String>();
        spans.forEach(span -> known.add(span.id()));
        var all = new ArrayList<Span>();
        if (root != null) {
            all.add(root);
        }
        for (Span span : spans) {
            boolean isKnown = span.parent() != null && known.contains(span.parent());
            String parent = isKnown ? span.parent() : root == null ? null : root.id();
            all.add(span.below(parent, known));
        }
        return all;
    }

    long models() {
        return models;
    }

    long tools() {
        return tools;
    }

    long mcp() {
        return mcp;
    }

    /// How many calls and tools should have a span and have none.
    long leftOut() {
        return unkept + outOfTime + withoutMethod;
    }

    /// `gen_ai.provider.name` of all calls, if they have the same.
    @Nullable
    String provider() {
        return providers.size() == 1 ? providers.iterator().next() : null;
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        var limits = new ArrayList<String>();
        if (tools > 0) {
            limits.add(
                    "the span of a tool lasts from when the model's request for it had passed to the guest to when the"
                            + " request with its result began: it ran within that time, not necessarily all of it");
        }
        say(limits, withoutResult, "have no span, because no request brought a result, so that their end is not known");
        say(limits, byProvider, "have no span, because the provider ran them");
        if (outOfTime > 0) {
            limits.add(outOfTime + " calls or tools have no span, because the record does not say when they began, or"
                    + " says that they ended before");
        }
        if (withoutMethod > 0) {
            limits.add(withoutMethod
                    + " requests to MCP servers have no span, because it could not be read what they asked for");
        }
        if (unkept > 0) {
            limits.add(unkept + " calls or tools have no span, because of each sort at most " + EACH_MAX
                    + ", about " + (charsMax >> 20) + " million characters in all, and nothing that was recorded"
                    + " meanwhile, are exported");
        }
        return limits;
    }

    private static void say(List<String> limits, long count, String what) {
        if (count > 0) {
            limits.add(count + " tools that were asked for " + what + "; their calls have an event for each");
        }
    }

    private static @Nullable String text(@Nullable Text text) {
        return text == null ? null : text.toString();
    }

    /// A text, or a list of some, as a list.
    private static List<String> texts(JsonNode of) {
        if (of.isTextual()) {
            return List.of(of.textValue());
        }
        var texts = new ArrayList<String>();
        of.forEach(each -> texts.add(Objects.requireNonNullElse(each.textValue(), each.toString())));
        return texts;
    }

    private static @Nullable Boolean bool(JsonNode detail, String name) {
        JsonNode value = detail.path(name);
        return value.isBoolean() ? (Boolean) value.booleanValue() : null;
    }

    /// A whole number from 0, or null.
    static @Nullable Long count(JsonNode detail, String name) {
        JsonNode value = detail.path(name);
        return value.isIntegralNumber() && value.canConvertToLong() && value.longValue() >= 0
                ? (Long) value.longValue()
                : null;
    }
}
