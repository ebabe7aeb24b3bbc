package blackbox.query.why;

import blackbox.query.calls.TokenSums;
import blackbox.query.run.RunFacts;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The calls of models in a run, the tools that they asked for, and which call brought which result. Owned
/// by one thread.
final class CallBook {

    static final int CALLS_MAX = 10_000;
    static final int TOOLS_MAX = 10_000;

    /// Characters of arguments that are kept of all tools; those beyond it cannot be compared.
    private static final long ARGUMENTS_CHARS_MAX = 16L << 20;

    /// Longer arguments are not compared with those of a call of an MCP server.
    private static final int COMPARED_CHARS_MAX = 8192;

    /// Of tool uses with the same id, so many that wait longest are looked at for each result.
    private static final int COMPARED_MAX = 256;

    private static final int STRANGERS_MAX = 100;

    /// Types of tools that the provider runs, as it names them.
    private static final Set<String> BY_PROVIDER = Set.of(
            "server_tool_use",
            "mcp_tool_use",
            "web_search_call",
            "file_search_call",
            "code_interpreter_call",
            "image_generation_call",
            "mcp_call");

    private final List<ModelTurn> turns = new ArrayList<>();
    private final Map<Connections.@Nullable Ends, List<ModelTurn>> byEnds = new HashMap<>();
    private final List<ToolUse> tools = new ArrayList<>();
    private final List<String> strangers = new ArrayList<>();
    private @Nullable ModelTurn latest;
    private long argumentsChars;
    private long unkept;
    private long unread;
    private long notWhole;

    /// Takes the next event of the network.
    void see(NetView event, long index) {
        switch (event) {
            case NetView.Exchange done ->
                unread += detail(done).path("callsNotRead").asBoolean() ? 1 : 0;
            case NetView.ModelCall call -> call(call, index);
            case NetView.ToolUse use -> tool(use, index);
            case NetView.McpCall _,
                    NetView.Call _,
                    NetView.Flow _,
                    NetView.Dns _,
                    NetView.Decision _,
                    NetView.SecretUse _,
                    NetView.Miss _ -> {}
        }
    }

    private static JsonNode detail(NetView event) {
        return RunFacts.detailOf(event.row());
    }

    private void call(NetView.ModelCall call, long index) {
        latest = null;
        if (turns.size() >= CALLS_MAX) {
            unkept++;
            return;
        }
        JsonNode detail = detail(call);
        notWhole += detail.has("notRead") ? 1 : 0;
        var results = new ArrayList<String>();
        detail.path("toolResults").forEach(each -> results.add(each.asText()));
        Text host = call.host() == null ? call.remoteIp() : call.host();
        var exchange = new ModelTurn.Exchange(
                Connections.Ends.of(call),
                detail.path("number").asLong(),
                String.valueOf(host),
                detail.path("askedAtNs").asLong(call.atNs()));
        var model = new ModelTurn.Model(
                TokenSums.model(detail),
                String.valueOf(call.what()),
                detail.path("responseId").textValue());
        latest = new ModelTurn(index, call.atNs(), exchange, model, results);
        turns.add(latest);
        byEnds.computeIfAbsent(exchange.ends(), _ -> new ArrayList<>(1)).add(latest);
    }

    private void tool(NetView.ToolUse use, long index) {
        JsonNode detail = detail(use);
        ModelTurn turn = latest;
        if (turn == null
                || tools.size() >= TOOLS_MAX
                || !turn.exchange.isSame(
                        Connections.Ends.of(use), detail.path("number").asLong())) {
            unkept++;
            return;
        }
        Text name = use.what();
        var tool = new ToolUse(
                index,
                turn,
                detail.path("id").textValue(),
                name == null ? null : name.toString(),
                given(detail),
                detail.path("wholeAtNs").asLong(use.atNs()));
        if (BY_PROVIDER.contains(detail.path("type").asText())) {
            tool.window = new Window(tool.wholeNs, tool.wholeNs, Window.End.BY_PROVIDER);
        }
        turn.tools.add(tool);
        tools.add(tool);
    }

    private ToolUse.Arguments given(JsonNode detail) {
        String text = detail.path("arguments").textValue();
        Wanted wanted = Wanted.of(text, detail.path("argumentsTruncated").asBoolean());
        String compared = text == null || text.length() > COMPARED_CHARS_MAX ? null : text;
        long size = wanted.size() + (compared == null ? 0 : compared.length());
        if (argumentsChars + size > ARGUMENTS_CHARS_MAX) {
            return new ToolUse.Arguments(Wanted.nothing(true), null);
        }
        argumentsChars += size;
        return new ToolUse.Arguments(wanted, compared);
    }

    /// Joins what belongs together. To be called once, after all events.
    ///
    /// @param endNs when the run's last event was
    void join(ProcessTree tree, Connections connections, long endNs) {
        turns.forEach(turn -> turn.holder = connections.holder(turn.exchange.ends(), turn.exchange.askedNs()));
        Map<String, List<ToolUse>> waiting = new HashMap<>();
        for (ToolUse tool : tools) {
            if (tool.window.end() != Window.End.BY_PROVIDER) {
                waiting.computeIfAbsent(key(tool.turn, tool.key()), _ -> new ArrayList<>())
                        .add(tool);
            }
        }
        waiting.values().stream()
                .filter(same -> same.size() > 1)
                .flatMap(List::stream)
                .forEach(each -> each.repeated = each.id != null);
        turns.stream()
                .sorted(Comparator.comparingLong(turn -> turn.exchange.askedNs()))
                .forEach(turn -> turn.results.forEach(
                        id -> bring(turn, id, waiting.getOrDefault(key(turn, id), new ArrayList<>()), tree)));
        tools.forEach(tool -> place(tool, tree, endNs));
    }

    private static String key(ModelTurn turn, String id) {
        return turn.exchange.host() + "\n" + id;
    }

    /// Gives a result to the first use that waits for it and had been asked for by then; a result that is
    /// there before closes the use, since it cannot be its own.
    private void bring(ModelTurn turn, String id, List<ToolUse> same, ProcessTree tree) {
        ToolUse early = null;
        for (ToolUse tool : same.subList(0, Math.min(same.size(), COMPARED_MAX))) {
            if (!mayBring(tool, turn, tree)) {
                continue;
            }
            if (tool.wholeNs <= turn.exchange.askedNs() + Tolerance.STEADY_NS) {
                bind(tool, turn, Window.End.RESULT);
                same.remove(tool);
                return;
            }
            early = early == null ? tool : early;
        }
        if (early != null) {
            same.remove(early);
            bind(early, turn, Window.End.BEFORE_ASKED);
        } else if (strangers.size() < STRANGERS_MAX) {
            strangers.add("call " + turn.index + " brings a result for '" + id
                    + "', which no answer asked for that was read and still waited for it");
        }
    }

    private static void bind(ToolUse tool, ModelTurn turn, Window.End end) {
        tool.window = new Window(tool.wholeNs, turn.exchange.askedNs(), end);
        tool.broughtBy = turn;
        turn.brought.add(tool);
    }

    /// Another process brings a result only if the one that asked has ended: else it could end the time of
    /// a tool that is not its own.
    private static boolean mayBring(ToolUse tool, ModelTurn turn, ProcessTree tree) {
        ProcessId asked = process(tool.turn);
        ProcessId brings = process(turn);
        if (asked == null || brings == null) {
            Connections.Holder holder = tool.turn.holder;
            return asked == null || holder == null || !holder.exact(); // who is not known may be anybody
        }
        return asked.equals(brings) || tree.exitNs(asked) <= turn.exchange.askedNs();
    }

    private static @Nullable ProcessId process(ModelTurn turn) {
        return turn.holder == null ? null : turn.holder.process();
    }

    private static void place(ToolUse tool, ProcessTree tree, long endNs) {
        Connections.Holder holder = tool.turn.holder;
        if (holder == null) {
            return;
        }
        tool.root = holder.process();
        tool.rootAsked = holder.exact();
        ProcessId brings = tool.broughtBy == null ? null : process(tool.broughtBy);
        if (brings != null && !brings.equals(holder.process())) {
            ProcessId common = tree.common(holder.process(), brings);
            tool.root = common == null ? holder.process() : common;
            tool.rootAsked = false;
        }
        if (tool.window.end() == Window.End.NO_RESULT) {
            long to = Math.min(endNs, tree.exitNs(holder.process()));
            tool.window = new Window(tool.wholeNs, Math.max(to, tool.wholeNs), Window.End.NO_RESULT);
        }
    }

    List<ModelTurn> turns() {
        return turns;
    }

    List<ToolUse> tools() {
        return tools;
    }

    /// The call that an exchange was, null if it was none.
    @Nullable
    ModelTurn turn(Connections.@Nullable Ends ends, long number, long atNs) {
        ModelTurn found = null;
        for (ModelTurn turn : byEnds.getOrDefault(ends, List.of())) {
            if (turn.exchange.isSame(ends, number) && turn.exchange.askedNs() <= atNs) {
                found = turn; // the same ends may be used again later
            }
        }
        return found;
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        var limits = new ArrayList<String>();
        if (unkept > 0) {
            limits.add("only the first " + CALLS_MAX + " calls of models and " + TOOLS_MAX
                    + " tools are followed; there are " + unkept + " more");
        }
        if (unread > 0) {
            limits.add("which calls " + unread
                    + " HTTP requests made was not read: too many went on at the same time (callsNotRead)");
        }
        if (notWhole > 0) {
            limits.add("of " + notWhole + " calls of models a part was not read (notRead): tools may be missing");
        }
        long unknown = turns.stream().filter(turn -> turn.holder == null).count();
        if (unknown > 0) {
            limits.add("of " + unknown + " calls of models it is not known which process made them: what their tools"
                    + " did can be told by the time only");
        }
        limits.addAll(strangers);
        return limits;
    }
}
