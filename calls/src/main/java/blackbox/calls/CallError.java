package blackbox.calls;

import org.jspecify.annotations.Nullable;

/// Why a call failed, as the answer says.
///
/// @param type in the provider's words: `overloaded_error`, `RESOURCE_EXHAUSTED`, or a JSON-RPC code
/// @param message at most 2,048 characters of it
public record CallError(@Nullable String type, @Nullable String message) {}
