package blackbox.query.answer;

import blackbox.query.store.Recordings;
import blackbox.query.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.time.Duration;

/// A run's events in order, once, or for as long as the run is being recorded.
public final class Events {

    /// How often a followed run is looked at.
    private static final Duration POLL = Duration.ofMillis(200);

    /// How often more is looked for when the recorder is gone: its last batches may still be on their way to
    /// the table.
    private static final int POLLS_BEHIND_RECORDER = 15;

    /// Takes events one by one; the row is valid during the call.
    @FunctionalInterface
    public interface Sink {
        void accept(long index, Row row) throws IOException;
    }

    /// What a followed run's taker is told when there is nothing new for now: a good moment to flush.
    @FunctionalInterface
    public interface Idle {
        void idle() throws IOException;
    }

    private final Recordings recordings;
    private final RunId run;
    private final EventFilter filter;
    private long next;
    private boolean closed;

    public Events(Recordings recordings, RunId run, EventFilter filter) {
        this.recordings = recordings;
        this.run = run;
        this.filter = filter;
    }

    /// Starts behind the events before `index`.
    public Events from(long index) {
        next = index;
        return this;
    }

    /// Gives every event that is there now.
    public void read(Sink sink) throws IOException {
        read(sink, false);
    }

    /// Gives the events that are there and those that come, until the run's recorder is gone and all it left
    /// was given. Blocks the thread, which must be one that may; ends early on interruption.
    public void follow(Sink sink, Idle idle) throws IOException, InterruptedException {
        int pollsLeft = POLLS_BEHIND_RECORDER;
        while (!closed && pollsLeft > 0) {
            boolean live = recordings.isLive(run);
            read(sink, live || pollsLeft > 1);
            idle.idle();
            pollsLeft -= live ? 0 : 1;
            Thread.sleep(POLL);
        }
    }

    /// With `gapless`, stops at the first missing index: what is on its way to the table comes later.
    private void read(Sink sink, boolean gapless) throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, next)) {
            while (reader.next()) {
                if (gapless && reader.index() != next) {
                    return;
                }
                next = reader.index() + 1;
                Row row = reader.row();
                // The heartbeat that seals the close comes behind it.
                closed = closed || row.has(Column.KIND) && row.number(Column.KIND) == Kind.RUN_CLOSE.code();
                if (filter.accepts(row)) {
                    sink.accept(reader.index(), row);
                }
            }
        }
    }
}
