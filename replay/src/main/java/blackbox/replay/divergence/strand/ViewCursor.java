package blackbox.replay.divergence.strand;

import blackbox.schemas.row.Row;
import java.io.IOException;

/// Walks over what a view keeps of a run's events.
record ViewCursor(EventCursor events, EventSource.View view) implements EventCursor {
    @Override
    public boolean next() throws IOException {
        while (events.next()) {
            if (view.keeps(events.row(), events.index())) {
                return true;
            }
        }
        return false;
    }

    @Override
    public long index() {
        return events.index();
    }

    @Override
    public Row row() {
        return events.row();
    }

    @Override
    public void close() throws IOException {
        events.close();
    }
}
