package blackbox.replay.divergence;

import blackbox.replay.divergence.cause.DivergenceClass;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The first event at which two runs diverge, and why.
///
/// @param index the recorded event that did not occur (again), or, if the other side has extra events, the
///     next recorded event in the same thread; if there is none, the last one on which both agreed
/// @param actualIndex the same on the other side
/// @param reason the class of the first input that differs
/// @param expected what was recorded, as one line, which says so if there was nothing
/// @param actual what occurred instead
/// @param causes the way from the input to the divergence, a sentence each
/// @param lastAgreed the last event of this thread on which both agree, or null
public record DivergencePoint(
        long index,
        long actualIndex,
        DivergenceClass reason,
        String expected,
        String actual,
        List<String> causes,
        @Nullable Agreed lastAgreed,
        List<String> recordedContext,
        List<String> actualContext) {

    /// An event on which both agree: its index on either side, and its line.
    public record Agreed(long index, long actualIndex, String line) {}

    public DivergencePoint {
        causes = List.copyOf(causes);
        recordedContext = List.copyOf(recordedContext);
        actualContext = List.copyOf(actualContext);
    }
}
