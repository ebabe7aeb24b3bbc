package blackbox.replay.verdict;

import blackbox.replay.divergence.DivergencePoint;
import blackbox.replay.divergence.DivergencePoint.Agreed;
import blackbox.replay.divergence.cause.DivergenceClass;
import java.util.ArrayList;
import java.util.List;

/// Where a replay first diverged from its recording.
///
/// @param index of the recorded event
/// @param kind what kind of input differed first
/// @param expected what was recorded
/// @param actual what the replay did
/// @param causes from the divergence back to the input, each a sentence
/// @param context the lines around it, for people; the last event that agrees comes first
public record FirstDivergence(
        long index, DivergenceClass kind, String expected, String actual, List<String> causes, List<String> context) {
    public FirstDivergence {
        causes = List.copyOf(causes);
        context = List.copyOf(context);
        if (index < 0) {
            throw new IllegalArgumentException("a divergence is at an event, not at " + index);
        }
    }

    /// One that an alignment found; its context is what both agreed on last, then the lines of either side.
    public static FirstDivergence of(DivergencePoint found) {
        var context = new ArrayList<String>();
        Agreed agreed = found.lastAgreed();
        if (agreed != null) {
            context.add("both agree: " + agreed.line());
        }
        found.recordedContext().forEach(line -> context.add("recorded: " + line));
        found.actualContext().forEach(line -> context.add("replayed: " + line));
        return new FirstDivergence(
                Math.max(0, found.index()), found.reason(), found.expected(), found.actual(), found.causes(), context);
    }
}
