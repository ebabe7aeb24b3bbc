package blackbox.rules.event;

import org.jspecify.annotations.Nullable;

/// What a process runs; null where that is not known.
///
/// @param number of the start of a program in its run, from 1; 0 if it is not known
/// @param commandLine its arguments with a space between two
public record Program(
        long number, @Nullable String image, @Nullable String commandLine) {
    public static final Program UNKNOWN = new Program(0, null, null);
}
