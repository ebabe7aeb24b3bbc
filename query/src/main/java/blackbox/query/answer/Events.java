package blackbox.query.answer;

import blackbox.schemas.row.Row;
import java.io.IOException;

/// Passes a stream's events to a consumer.
public final class Events {

    /// Takes events one by one; the row is valid during the call.
    @FunctionalInterface
    public interface Sink {
        void accept(long index, Row row) throws IOException;
    }

    /// Called when there is nothing new for now: a good moment to flush.
    @FunctionalInterface
    public interface Idle {
        void idle() throws IOException;
    }

    private Events() {}

    /// Passes on every event, to the stream's end, and closes the stream. Blocks the thread, which must be
    /// one that may block.
    public static void give(EventStream stream, Sink sink, Idle idle) throws IOException, InterruptedException {
        try (stream) {
            for (EventStream.Step step = stream.next(); step != EventStream.Step.END; step = stream.next()) {
                if (step == EventStream.Step.EVENT) {
                    sink.accept(stream.index(), stream.row());
                } else {
                    idle.idle();
                    Thread.sleep(EventStream.POLL);
                }
            }
        }
    }
}
