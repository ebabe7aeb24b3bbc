package blackbox.query.calls;

import blackbox.query.run.RunFacts;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Gathers the calls of a run. The tools that a model asked for follow its call.
public final class CallCollector {

    /// How many calls and tools one answer has.
    public static final int KEPT_MAX = 10_000;

    private final BooleanSupplier room;
    private final int most;
    private final Map<AgentCalls.ToModel, List<AgentCalls.Tool>> models = new LinkedHashMap<>();
    private final List<AgentCalls.ToMcp> mcp = new ArrayList<>();
    private final TokenSums sums = new TokenSums();
    private @Nullable List<AgentCalls.Tool> tools;
    private @Nullable String exchange;
    private long unkept;
    private long unread;

    /// @param room takes a place for one more; false if there is none
    /// @param most how many places there were
    public CallCollector(BooleanSupplier room, int most) {
        this.room = room;
        this.most = most;
    }

    /// Takes the next event of the network.
    public void see(NetView event, long index) {
        switch (event) {
            case NetView.Exchange done ->
                unread += detail(done).path("callsNotRead").asBoolean() ? 1 : 0;
            case NetView.ModelCall call -> {
                sums.see(call.row());
                exchange = exchange(call);
                tools = new ArrayList<>();
                if (isKept()) {
                    models.put(
                            new AgentCalls.ToModel(
                                    index, call.atNs(), host(call), text(call.what(), "?"), detail(call), List.of()),
                            tools);
                }
            }
            case NetView.ToolUse use -> {
                if (tools != null && exchange(use).equals(exchange) && isKept()) {
                    Text name = use.what();
                    tools.add(new AgentCalls.Tool(index, name == null ? null : name.toString(), detail(use)));
                }
            }
            case NetView.McpCall call -> {
                if (isKept()) {
                    Text method = call.what();
                    mcp.add(new AgentCalls.ToMcp(
                            index, call.atNs(), host(call), method == null ? null : method.toString(), detail(call)));
                }
            }
            case NetView.Call _,
                    NetView.Flow _,
                    NetView.Dns _,
                    NetView.Decision _,
                    NetView.SecretUse _,
                    NetView.Miss _ -> {}
        }
    }

    private boolean isKept() {
        boolean kept = room.getAsBoolean();
        unkept += kept ? 0 : 1;
        return kept;
    }

    private static JsonNode detail(NetView event) {
        return RunFacts.detailOf(event.row());
    }

    private static String exchange(NetView.AgentCall call) {
        return call.localPort() + " " + call.remoteIp() + " " + call.remotePort() + " "
                + detail(call).path("number").asLong();
    }

    private static String host(NetView.AgentCall call) {
        Text host = call.host();
        return text(host == null ? call.remoteIp() : host, "?");
    }

    private static String text(@Nullable Text text, String otherwise) {
        return text == null ? otherwise : text.toString();
    }

    /// What was gathered.
    public AgentCalls calls() {
        var all = new ArrayList<AgentCalls.ToModel>();
        models.forEach((call, used) -> all.add(
                new AgentCalls.ToModel(call.index(), call.atNs(), call.host(), call.api(), call.detail(), used)));
        return new AgentCalls(all, mcp, sums.models(), unread);
    }

    /// What may be missing, in sentences.
    public List<String> limits() {
        var limits = new ArrayList<String>();
        if (unkept > 0) {
            limits.add("only " + most + " calls of models, tools and MCP servers are listed; there are " + unkept
                    + " more");
        }
        if (unread > 0) {
            limits.add("which calls " + unread
                    + " HTTP requests made was not read: too many went on at the same time (callsNotRead)");
        }
        return limits;
    }
}
