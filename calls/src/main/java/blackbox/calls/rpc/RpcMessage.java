package blackbox.calls.rpc;

import org.jspecify.annotations.Nullable;

/// One message of JSON-RPC 2.0, as far as it says what is called.
///
/// @param id as it is written in JSON, `1` or `"1"`; null for a notification
/// @param method null for an answer
/// @param name `name` of the parameters, if that is a text: of `tools/call` the tool
public record RpcMessage(
        @Nullable String id,
        @Nullable String method,
        @Nullable String name) {}
