package blackbox.rules.event;

import org.jspecify.annotations.Nullable;

/// What a process runs; null where that is not known.
///
/// @param commandLine its arguments with a space between two
public record Program(@Nullable String image, @Nullable String commandLine) {
    public static final Program UNKNOWN = new Program(null, null);
}
