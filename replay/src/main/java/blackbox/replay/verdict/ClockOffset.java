package blackbox.replay.verdict;

import org.jspecify.annotations.Nullable;

/// By how much the replayed guest's wall clock differed from the recorded one, in nanoseconds; positive if it
/// was later.
///
/// @param startNs when the agent's first process was created
/// @param endNs when the agent had ended, null if one of the two agents did not end
/// @param shared at events that both sides have, null if that was not determined
public record ClockOffset(
        long startNs, @Nullable Long endNs, @Nullable SharedOffsets shared) {
    /// No offset: a replay of the same instructions with the same inputs, its output compared octet for
    /// octet.
    public static final ClockOffset NONE = new ClockOffset(0, 0L);

    public ClockOffset(long startNs, @Nullable Long endNs) {
        this(startNs, endNs, null);
    }

    /// The same with what is known of the events that both sides have.
    public ClockOffset with(@Nullable SharedOffsets known) {
        return new ClockOffset(startNs, endNs, known);
    }
}
