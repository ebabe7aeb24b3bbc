package blackbox.query.answer;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A run's events in order, pulled one by one: the existing ones, or also those that follow while it is
/// recorded.
///
/// Owned by one thread. Never waits: [Step#IDLE] says that there is nothing new, and that [#POLL] is a good
/// pause.
public final class EventStream implements AutoCloseable {

    /// How often to check a followed run.
    public static final Duration POLL = Duration.ofMillis(200);

    /// How long to wait for the next event once the recorder is gone: its last batches may be on their way to the
    /// table, and an ingest that works adds rows every second.
    public static final Duration PATIENCE = Duration.ofSeconds(15);

    private static final int POLLS_BEHIND_RECORDER = (int) PATIENCE.dividedBy(POLL);

    /// The result of [#next].
    public enum Step {
        /// An event: see [#index] and [#row].
        EVENT,
        /// Nothing new for now.
        IDLE,
        /// There will be no more.
        END
    }

    private final Recordings recordings;
    private final RunId run;
    private final EventFilter filter;
    private final boolean following;
    private @Nullable RunReader reader;
    private long next;
    private boolean closed;
    private int pollsLeft = POLLS_BEHIND_RECORDER;

    private EventStream(Recordings recordings, RunId run, EventFilter filter, long from, boolean following) {
        this.recordings = recordings;
        this.run = run;
        this.filter = filter;
        this.next = from;
        this.following = following;
    }

    /// The present events, from index `from` on.
    public static EventStream of(Recordings recordings, RunId run, EventFilter filter, long from) {
        return new EventStream(recordings, run, filter, from, false);
    }

    /// The present events and those that follow, until the run's close, or until its recorder is gone and nothing
    /// has come for [#PATIENCE]; [#isOver] tells which.
    public static EventStream following(Recordings recordings, RunId run, EventFilter filter, long from) {
        return new EventStream(recordings, run, filter, from, true);
    }

    /// Moves to the next wanted event, if there is one now.
    public Step next() throws IOException {
        RunReader open = reader;
        if (open == null) {
            if (following && !recordings.isLive(run)) {
                pollsLeft--;
            }
            open = RunReader.open(recordings, run, next);
            reader = open;
        }
        while (open.next()) {
            if (following && pollsLeft > 0 && open.index() != next) {
                break; // what is between is on its way to the table
            }
            if (pollsLeft > 0) { // once it is over, no gap is waited for anymore
                pollsLeft = POLLS_BEHIND_RECORDER;
            }
            next = open.index() + 1;
            Row row = open.row();
            closed |= row.has(Column.KIND) && row.number(Column.KIND) == Kind.RUN_CLOSE.code();
            if (filter.accepts(row)) {
                return Step.EVENT;
            }
        }
        close();
        return following && !closed && pollsLeft > 0 ? Step.IDLE : Step.END;
    }

    /// Whether the run's close was among the events read, so that none can follow.
    public boolean isOver() {
        return closed;
    }

    /// The current event's index within the run.
    public long index() {
        return next - 1;
    }

    /// The current event, valid until the next call of [#next].
    public Row row() {
        RunReader open = reader;
        if (open == null) {
            throw new IllegalStateException("there is no current event");
        }
        return open.row();
    }

    @Override
    public void close() throws IOException {
        RunReader open = reader;
        if (open != null) {
            reader = null;
            open.close();
        }
    }
}
