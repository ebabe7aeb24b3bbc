package blackbox.recorder.seal;

import blackbox.schemas.event.Event;
import blackbox.schemas.row.Row;
import java.util.List;

/// Is shown every row of a run, and says what follows from it. Called by the run's writer alone, which waits for it:
/// it must neither block nor fail.
public interface RowWatch {

    /// Sees nothing, says nothing.
    RowWatch NONE = new RowWatch() {
        @Override
        public List<Event> see(long index, Row row) {
            return List.of();
        }

        @Override
        public List<Event> finish() {
            return List.of();
        }

        @Override
        public void sealed(long index, Event said) {}
    };

    /// Takes the next row, which is valid during the call, and returns what is to be appended after it.
    List<Event> see(long index, Row row);

    /// Returns what is to be appended before the run's close.
    List<Event> finish();

    /// What it said is durable at an index.
    void sealed(long index, Event said);
}
