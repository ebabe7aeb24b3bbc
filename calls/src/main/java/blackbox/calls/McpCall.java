package blackbox.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A request or notification to an MCP server, over its streamable HTTP transport.
///
/// @param session from `Mcp-Session-Id` of the request, or of the response that opened it
/// @param id of JSON-RPC, as it is written in JSON, so that `1` and `"1"` differ; null for a notification
/// @param method such as `tools/call`; null if the request could not be read and its header fields do not say it
///     either
/// @param name of the tool or prompt, or the URI of the resource
/// @param arguments of the tool or prompt
/// @param status of HTTP; 0 if there was no response
/// @param answer null if none came
public record McpCall(
        @Nullable String session,
        @Nullable String id,
        @Nullable String method,
        @Nullable String name,
        @Nullable Arguments arguments,
        int status,
        @Nullable Answer answer,
        List<String> notRead)
        implements Call {
    public McpCall {
        notRead = List.copyOf(notRead);
    }

    /// What the server answered to one request.
    ///
    /// @param toolError whether the tool says that it failed (`isError`); null if it does not say
    /// @param error of JSON-RPC; null if there is a result
    /// @param endOffset how many octets of the decoded body there were when the answer had ended
    public record Answer(
            @Nullable Boolean toolError, @Nullable CallError error, long endOffset) {}
}
