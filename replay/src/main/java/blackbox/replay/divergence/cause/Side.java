package blackbox.replay.divergence.cause;

import blackbox.replay.divergence.strand.EventSource;
import java.util.function.UnaryOperator;

/// One of the two runs that are compared.
///
/// @param name what messages and suggested commands call it: a run id, or `replay`
/// @param events what is compared
/// @param asRecorded what is shown: all events, each as it was recorded
/// @param inputs what it was started with
public record Side(String name, EventSource events, EventSource asRecorded, RunInputs inputs) {

    /// A side whose events are compared as they were recorded.
    public Side(String name, EventSource events, RunInputs inputs) {
        this(name, events, events, inputs);
    }

    /// The same with its events compared in another way.
    public Side with(UnaryOperator<EventSource> seen) {
        return new Side(name, seen.apply(events), asRecorded, inputs);
    }
}
