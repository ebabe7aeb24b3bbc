package blackbox.replay.divergence.strand;

import blackbox.schemas.row.Row;
import java.io.IOException;

/// A run's events in order, readable as often as needed, always with the same result.
@FunctionalInterface
public interface EventSource {

    /// A cursor before the event at index `from`, or before the first one after it.
    EventCursor open(long from) throws IOException;

    /// Looks at each event before it is read.
    @FunctionalInterface
    interface View {
        /// Whether the event stays; if it does, its row may have been changed. The same for an event each time.
        boolean keeps(Row row, long index);
    }

    /// The events that stay, as a view has left them, under the indexes that they have.
    default EventSource through(View view) {
        return from -> new ViewCursor(open(from), view);
    }
}
