package blackbox.replay.verdict;

import org.jspecify.annotations.Nullable;

/// By how much the replayed guest's wall clock differed from the recorded one, in nanoseconds; positive if it
/// was later.
///
/// @param startNs when the agent's first process was created
/// @param endNs when the agent had ended, null if one of the two agents did not end
public record ClockOffset(long startNs, @Nullable Long endNs) {
    /// No offset: a replay of the same instructions with the same inputs, its output compared octet for
    /// octet.
    public static final ClockOffset NONE = new ClockOffset(0, 0L);
}
