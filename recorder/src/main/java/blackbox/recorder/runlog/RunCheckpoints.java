package blackbox.recorder.runlog;

import blackbox.recorder.RecorderException;
import blackbox.recorder.seal.BatchSink;
import blackbox.schemas.batch.SealedBatch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Logs a run's checkpoints in the log of runs while it is recorded: the last durable one at every interval,
/// on its own thread, and the closing one at the end. Batches pass through to the run's sink unchanged.
///
/// An append that fails loses no event: it is reported and tried again at the next interval.
public final class RunCheckpoints implements BatchSink, AutoCloseable {

    private final BatchSink sink;
    private final TransparencyLogWriter log;
    private final Duration interval;
    private final Consumer<String> trouble;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable String last;

    /// Owned by the thread, and by [#close] once the thread has ended.
    private @Nullable String logged;

    /// @param trouble receives appends that failed
    public RunCheckpoints(BatchSink sink, TransparencyLogWriter log, Duration interval, Consumer<String> trouble) {
        this.sink = sink;
        this.log = log;
        this.interval = interval;
        this.trouble = trouble;
        this.thread = Thread.ofPlatform().name("run-log").daemon().start(this::work);
    }

    @Override
    public void write(SealedBatch batch) throws RecorderException {
        sink.write(batch);
        last = batch.checkpoint();
    }

    private void work() {
        try {
            while (!ended.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
                logLast();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void logLast() {
        String checkpoint = last;
        if (checkpoint == null || checkpoint.equals(logged)) {
            return;
        }
        try {
            log.append(List.of(checkpoint));
            logged = checkpoint;
        } catch (RecorderException e) {
            trouble.accept(String.valueOf(e.getMessage()));
        }
    }

    /// Logs the last checkpoint, unless it is logged already, and stops.
    @Override
    public void close() {
        ended.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        logLast();
    }
}
