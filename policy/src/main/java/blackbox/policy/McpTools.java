package blackbox.policy;

import java.util.List;
import java.util.Set;

/// An MCP server over HTTP, and which of its tools may be called.
///
/// @param url `https://` or `http://`, a name, a port if it is not the scheme's own, and a path
/// @param tools sorted; empty for every tool
public record McpTools(String url, List<String> tools) {
    /// What clients of a server need before they can call a tool, and what only lists: it neither runs anything nor
    /// returns what a tool would. Methods that a later version of the protocol adds are not among them.
    private static final Set<String> UPKEEP = Set.of(
            "initialize",
            "ping",
            "logging/setLevel",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list");

    /// Whether a method may be called wherever any tool may.
    public static boolean isUpkeep(String method) {
        return UPKEEP.contains(method) || method.startsWith("notifications/");
    }

    public McpTools {
        tools = tools.stream().distinct().sorted().toList();
    }
}
