package blackbox.replay.verdict;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What was compared, and the result.
///
/// @param rules the differences that were permitted, each named; empty when none was
/// @param compared what was compared, in words: events, frames, console
/// @param notCompared what could not be, and why
/// @param events how many recorded events were compared
/// @param firstDivergence where they diverge, or null
/// @param egressPackets frames that the replay let out to any network; anything but 0 is a defect
/// @param clock how the guests' clocks differed, null if that is not known
/// @param levels in what they are equal, or how many differences there are
public record Comparison(
        List<String> rules,
        List<String> compared,
        List<String> notCompared,
        long events,
        @Nullable FirstDivergence firstDivergence,
        long egressPackets,
        @Nullable ClockOffset clock,
        Levels levels) {
    /// Nothing was compared.
    public static final Comparison NONE = new Comparison(List.of(), List.of(), List.of(), 0, null, 0);

    /// A comparison that knows nothing about the clocks, and does not say in what the two are equal.
    public Comparison(
            List<String> rules,
            List<String> compared,
            List<String> notCompared,
            long events,
            @Nullable FirstDivergence firstDivergence,
            long egressPackets) {
        this(rules, compared, notCompared, events, firstDivergence, egressPackets, null, Levels.UNKNOWN);
    }

    public Comparison {
        rules = List.copyOf(rules);
        compared = List.copyOf(compared);
        notCompared = List.copyOf(notCompared);
        if (events < 0 || egressPackets < 0) {
            throw new IllegalArgumentException("counts must not be negative");
        }
    }

    /// The same with what is known of the guests' clocks.
    public Comparison with(@Nullable ClockOffset offset) {
        return new Comparison(rules, compared, notCompared, events, firstDivergence, egressPackets, offset, levels);
    }

    /// The same with what is known of its differences.
    public Comparison with(Levels known) {
        return new Comparison(rules, compared, notCompared, events, firstDivergence, egressPackets, clock, known);
    }
}
