package blackbox.node.record;

import blackbox.evidence.store.Recordings;
import blackbox.ingest.IngestException;
import blackbox.node.data.DataFolder;
import blackbox.recorder.RecorderException;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.spool.Spool;
import blackbox.recorder.spool.SpoolPump;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Carries one run from its spool to the table while it is recorded. Comes up beside the VM, on a thread of its
/// own, since recording needs only the spool; a broker that does not come up costs nothing that was recorded.
final class Publication {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(2);
    private static final Duration TABLE_LOOK_EVERY = Duration.ofMillis(100);

    /// How long a broker that does not answer is waited for at a run's end; what it did not take stays in the
    /// spool.
    private static final Duration BROKER_PATIENCE = Duration.ofSeconds(20);

    private final DataFolder data;
    private final RunId run;
    private final Spool spool;
    private final KafkaSettings kafka;
    private final Consumer<String> says;
    private final Runnable first;
    private final Thread starter;
    private volatile @Nullable Pipeline pipeline;
    private volatile @Nullable KafkaPublisher borrowed;
    private volatile @Nullable SpoolPump pump;
    private volatile @Nullable Exception failure;

    /// @param first what to wait for before the broker starts, so that it does not slow the agent's start
    Publication(DataFolder data, RunId run, Spool spool, KafkaSettings kafka, Consumer<String> says, Runnable first) {
        this.data = data;
        this.run = run;
        this.spool = spool;
        this.kafka = kafka;
        this.says = says;
        this.first = first;
        this.starter = Thread.ofPlatform().name("publication-" + run).start(this::start);
    }

    private void start() {
        try {
            first.run();
            pump = new SpoolPump(spool, publisher(), run.value());
        } catch (IngestException | RecorderException | IOException | RuntimeException e) {
            failure = e;
        } catch (LinkageError e) {
            // Iceberg's class for its threads cannot be loaded any more once the process was told to end.
            failure = new IllegalStateException("the process was told to end before", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Our own pipeline's publisher, or one for the broker of the process that holds the pipeline (`serve`, or
    /// another
    /// `record`), once that has said where it listens.
    private KafkaPublisher publisher() throws IngestException, RecorderException, IOException, InterruptedException {
        for (long deadline = System.nanoTime() + START_TIMEOUT.toNanos(); System.nanoTime() < deadline; ) {
            PipelineLock lock = PipelineLock.tryTake(data);
            if (lock != null) {
                return own(lock);
            }
            String servers = kafka.servers() == null ? PipelineLock.announced(data) : kafka.servers();
            if (servers != null) {
                var publisher = new KafkaPublisher(kafka.clients(servers));
                borrowed = publisher;
                return publisher;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        throw new RecorderException(
                RecorderException.Code.BROKER,
                "another process holds the pipeline and does not say where its broker is");
    }

    private KafkaPublisher own(PipelineLock lock) throws IngestException, RecorderException, IOException {
        Pipeline own = Pipeline.start(lock, data, kafka);
        pipeline = own;
        own.recover(data)
                .forEach(left -> says.accept("published " + left.batches() + " batches that an earlier recorder of run "
                        + left.run() + " left behind"
                        + (left.quarantined().isEmpty() ? "" : "; damaged ends are in " + left.quarantined())));
        return own.publisher();
    }

    /// Waits until everything recorded is in the table. The spool must be closed.
    ///
    /// @return null when it is, else why not yet; nothing is lost then, the next start goes on with it
    @Nullable
    String finish(long endIndex, Duration timeout)
            throws IngestException, RecorderException, IOException, InterruptedException {
        starter.join(START_TIMEOUT);
        Exception why = failure;
        if (why != null || pump == null) {
            return "the broker did not come up" + (why == null ? "" : ": " + why.getMessage());
        }
        if (!sent(timeout)) {
            String trouble = trouble();
            return "the broker has not taken everything" + (trouble == null ? "" : ": " + trouble);
        }
        return ingested(endIndex, timeout);
    }

    /// Waits for the table, which another process fills as long as it holds the pipeline. When that process ends
    /// before it has, its pipeline is taken over.
    ///
    /// @return null when the table has the run, else why not
    private @Nullable String ingested(long endIndex, Duration timeout)
            throws IngestException, RecorderException, IOException, InterruptedException {
        var recordings = new Recordings(data.root());
        long deadline = System.nanoTime() + timeout.toNanos();
        while (pipeline == null && System.nanoTime() < deadline) {
            if (recordings.committedEnd(run) >= endIndex) {
                return null;
            }
            if (!takeOver()) {
                TimeUnit.NANOSECONDS.sleep(TABLE_LOOK_EVERY.toNanos());
            }
        }
        Pipeline own = pipeline;
        if (own == null) {
            return "the process that holds the pipeline has ingested " + recordings.committedEnd(run) + " of "
                    + endIndex + " events";
        }
        return own.await(run, endIndex, timeout)
                ? null
                : "ingest has not finished: " + own.ingest().status();
    }

    /// Waits for the broker to have everything. When the process whose broker we borrowed ends meanwhile, its
    /// pipeline is taken over.
    private boolean sent(Duration timeout)
            throws IngestException, RecorderException, IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        long answered = System.nanoTime();
        while (System.nanoTime() < deadline && System.nanoTime() - answered < BROKER_PATIENCE.toNanos()) {
            if (spool.awaitEmpty(LOOK_EVERY.toNanos())) {
                return true;
            }
            takeOver();
            answered = trouble() == null ? System.nanoTime() : answered;
        }
        return false;
    }

    /// Takes the pipeline if nobody has it.
    ///
    /// @return whether it was taken now
    private boolean takeOver() throws IngestException, RecorderException, IOException {
        PipelineLock lock = pipeline == null ? PipelineLock.tryTake(data) : null;
        if (lock == null) {
            return false;
        }
        stopPumping();
        pump = new SpoolPump(spool, own(lock), run.value());
        return true;
    }

    /// What keeps batches from the broker, or null.
    private @Nullable String trouble() {
        SpoolPump carrying = pump;
        Exception stopped = carrying == null ? null : carrying.failure();
        Pipeline own = pipeline;
        KafkaPublisher used = own == null ? borrowed : own.publisher();
        if (stopped != null) {
            return stopped.getMessage();
        }
        return used == null ? null : used.trouble();
    }

    private void stopPumping() {
        SpoolPump carrying = pump;
        if (carrying != null) {
            carrying.close();
        }
        KafkaPublisher other = borrowed;
        if (other != null) {
            other.close();
            borrowed = null;
        }
    }

    void close() throws IOException {
        try {
            starter.join(START_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        stopPumping();
        Pipeline own = pipeline;
        if (own != null) {
            own.close();
        }
    }
}
