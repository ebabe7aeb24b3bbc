package blackbox.calls;

import org.jspecify.annotations.Nullable;

/// The header fields of a message.
@FunctionalInterface
public interface Headers {
    /// The value of the first field with this name, which is given in lower case; null if there is none.
    @Nullable
    String first(String name);
}
