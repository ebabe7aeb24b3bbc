package blackbox.calls;

import org.jspecify.annotations.Nullable;

/// A tool that the model asked for.
///
/// @param index where the provider put it: of the content block, the output item or the tool call
/// @param type in the provider's words: `tool_use`, `function`, `custom_tool_call`. What the provider runs itself has
///     types of its own (`server_tool_use`, `web_search_call`), and no result comes from the caller
/// @param id with which its result is given; null where the API has none
/// @param name null if the response broke off before it
/// @param arguments null if none were given
/// @param complete whether its block ended as the API ends one. Where the API does not end them one by one: whether
///     the response said that it stopped
/// @param endOffset how many octets of the decoded body there were when its block had ended or, if it did not,
///     when the last of it had come: before that nobody could run it
public record ToolUse(
        long index,
        String type,
        @Nullable String id,
        @Nullable String name,
        @Nullable Arguments arguments,
        boolean complete,
        long endOffset) {}
