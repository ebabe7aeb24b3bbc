package blackbox.replay.verdict;

import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.divergence.DivergencePoint;
import blackbox.replay.divergence.DivergencePoint.Agreed;
import blackbox.replay.divergence.cause.Causes;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.output.OutputDifference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Where a replay first diverged from its recording.
///
/// @param index of the recorded event
/// @param kind what kind of input differed first
/// @param expected what was recorded
/// @param actual what the replay did
/// @param causes from the divergence back to the input, each a sentence
/// @param context the lines around it, for people; the last event that agrees comes first
/// @param output how what was printed differs as well, or alone; null if it does not, or was not compared
public record FirstDivergence(
        long index,
        DivergenceClass kind,
        String expected,
        String actual,
        List<String> causes,
        List<String> context,
        @Nullable OutputDifference output) {

    /// One with no difference in what was printed.
    public FirstDivergence(
            long index,
            DivergenceClass kind,
            String expected,
            String actual,
            List<String> causes,
            List<String> context) {
        this(index, kind, expected, actual, causes, context, null);
    }

    public FirstDivergence {
        causes = List.copyOf(causes);
        context = List.copyOf(context);
        if (index < 0) {
            throw new IllegalArgumentException("a divergence is at an event, not at " + index);
        }
    }

    /// All events agree, and what was printed does not.
    ///
    /// @param index of the last recorded event before it was printed
    /// @param why what was found out about it
    public static FirstDivergence of(long index, OutputDifference output, Causes.Found why) {
        return new FirstDivergence(
                index,
                why.reason(),
                printed(output, output.expected()),
                printed(output, output.actual()),
                why.causes(),
                List.of(),
                output);
    }

    static String printed(OutputDifference output, Content all) {
        return output.stream().inWords() + ", from byte " + output.octet() + " of " + all.bytes()
                + " on, SHA-256 of all " + all.sha256();
    }

    /// The same, with how what was printed differs.
    public FirstDivergence with(@Nullable OutputDifference difference) {
        return new FirstDivergence(index, kind, expected, actual, causes, context, difference);
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
