package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.strand.EventSource;
import java.util.function.UnaryOperator;

/// One of the two runs that are compared.
///
/// @param name what messages and suggested commands call it: a run id, or `replay`
/// @param inputs what it was started with
public record Side(String name, EventSource events, RunInputs inputs) {

    /// The same with its events seen in another way.
    public Side with(UnaryOperator<EventSource> seen) {
        return new Side(name, seen.apply(events), inputs);
    }
}
