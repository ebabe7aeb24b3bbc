package blackbox.replay.divergence.strand;

import java.io.IOException;

/// A run's events in order, readable as often as needed, always with the same result.
@FunctionalInterface
public interface EventSource {

    /// A cursor before the event at index `from`, or before the first one after it.
    EventCursor open(long from) throws IOException;
}
