package blackbox.query.calls;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an agent asked of models and of MCP servers.
///
/// @param notRead of how many HTTP requests nobody read which calls they made
public record AgentCalls(List<ToModel> models, List<ToMcp> mcp, List<TokenSums.OfModel> sums, long notRead) {

    public AgentCalls {
        models = List.copyOf(models);
        mcp = List.copyOf(mcp);
        sums = List.copyOf(sums);
    }

    /// Whether there are none.
    public boolean isEmpty() {
        return models.isEmpty() && mcp.isEmpty();
    }

    /// A call of a model.
    ///
    /// @param atNs when it was over
    /// @param host whom it went to: a name, or an address where there was none
    /// @param api such as `anthropic-messages`
    /// @param detail of the event
    /// @param tools that its answer asked for
    public record ToModel(long index, long atNs, String host, String api, JsonNode detail, List<Tool> tools) {
        public ToModel {
            tools = List.copyOf(tools);
        }

        /// As the answer names it, or else as it was asked for.
        public String model() {
            return TokenSums.model(detail);
        }

        public Tokens tokens() {
            return Tokens.of(detail);
        }
    }

    /// A tool that a model asked for.
    ///
    /// @param name null if the answer broke off before it
    /// @param detail of the event
    public record Tool(long index, @Nullable String name, JsonNode detail) {}

    /// A request to an MCP server.
    ///
    /// @param method null if it could not be read
    /// @param detail of the event
    public record ToMcp(
            long index, long atNs, String host, @Nullable String method, JsonNode detail) {}
}
