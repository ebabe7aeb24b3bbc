package blackbox.policy;

import org.jspecify.annotations.Nullable;

/// A secret that the guest knows only by a surrogate.
///
/// @param source null if whoever records names it
/// @param place where in a request it may stand: `header:NAME`, `basic`, `query:NAME`, `path` or
///     `body:/JSON/POINTER`; null if whoever records names it
public record Secret(
        String id, @Nullable SecretSource source, @Nullable String place) {}
