package blackbox.replay.verdict;

import org.jspecify.annotations.Nullable;

/// By how much the replayed guest's wall clock differed from the recorded one, in nanoseconds; positive where it was
/// later.
///
/// @param startNs when the agent's first process was made
/// @param endNs when the agent had ended, null where one of the two did not
public record ClockOffset(long startNs, @Nullable Long endNs) {
    /// A replay of the same instructions with the same inputs, its guest's words compared octet for octet.
    public static final ClockOffset NONE = new ClockOffset(0, 0L);
}
