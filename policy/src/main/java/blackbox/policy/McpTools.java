package blackbox.policy;

import java.util.List;

/// An MCP server over HTTP, and which of its tools may be called.
///
/// @param url `https://` or `http://`, a name, a port if it is not the scheme's own, and a path
/// @param tools sorted; empty for every tool
public record McpTools(String url, List<String> tools) {
    public McpTools {
        tools = tools.stream().distinct().sorted().toList();
    }
}
