package blackbox.replay.divergence.strand;

import blackbox.schemas.row.Row;
import java.io.IOException;

/// Walks over a run's events once. Owned by one thread.
public interface EventCursor extends AutoCloseable {

    /// Moves to the next event; false when there are no more.
    boolean next() throws IOException;

    /// The current event's index within its run.
    long index();

    /// The current event, valid until the next call of [#next].
    Row row();

    @Override
    void close() throws IOException;
}
