package blackbox.node.record;

import blackbox.ingest.IngestException;
import blackbox.ingest.kafka.TopicAdmin;
import blackbox.node.data.DataFiles;
import blackbox.node.record.KafkaSettings.Ingest;
import blackbox.node.record.RecordResult.Place;
import blackbox.recorder.RecorderException;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.spool.Spool;
import blackbox.recorder.spool.SpoolPump;
import blackbox.recorder.spool.SpoolRecovery;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Carries one run from its spool to the table while it is recorded. Starts in parallel with the VM, on its
/// own thread, since recording needs only the spool; if the broker does not start, nothing that was recorded
/// is lost. Where ingest is elsewhere, it carries the run to the broker only.
final class Publication {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(2);
    private static final Duration TABLE_LOOK_EVERY = Duration.ofMillis(100);

    /// How long to wait for another process that adds nothing of the run to the table; a working one adds rows
    /// every second.
    private static final Duration TABLE_PATIENCE = Duration.ofSeconds(30);

    /// How long to wait at a run's end for a broker that does not answer; what it has not accepted stays in the
    /// spool.
    private static final Duration BROKER_PATIENCE = Duration.ofSeconds(20);

    private final DataFolder data;
    private final RunId run;
    private final Spool spool;
    private final KafkaSettings kafka;
    private final Progress progress;
    private final Runnable first;
    private final Thread starter;
    private volatile @Nullable Pipeline pipeline;
    private volatile @Nullable KafkaPublisher borrowed;
    private volatile @Nullable SpoolPump pump;
    private volatile @Nullable Exception failure;
    private volatile boolean givenUp;

    /// @param first what to wait for before the broker starts, so that it does not slow the agent's start
    Publication(DataFolder data, RunId run, Spool spool, KafkaSettings kafka, Progress progress, Runnable first) {
        this.data = data;
        this.run = run;
        this.spool = spool;
        this.kafka = kafka;
        this.progress = progress;
        this.first = first;
        this.starter = Thread.ofPlatform().daemon().name("publication-" + run).start(this::start);
    }

    private void start() {
        try {
            first.run();
            pump = new SpoolPump(spool, publisher(), run.value());
        } catch (IngestException | RecorderException | IOException | RuntimeException e) {
            failure = e;
        } catch (LinkageError e) {
            failure = ending(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Once the process has been asked to stop, the class that Iceberg uses for its threads can no longer be
    /// loaded.
    private static IllegalStateException ending(LinkageError e) {
        return new IllegalStateException("the process was told to end before that was done", e);
    }

    /// Our own pipeline's publisher, or one for the broker of the process that holds the pipeline (`serve`,
    /// or another `record`), once that process has written down how to reach it.
    private KafkaPublisher publisher() throws IngestException, RecorderException, IOException, InterruptedException {
        if (kafka.ingest() == Ingest.ELSEWHERE) {
            return elsewhere();
        }
        for (long deadline = System.nanoTime() + START_TIMEOUT.toNanos(); System.nanoTime() < deadline; ) {
            PipelineLock lock = givenUp ? null : PipelineLock.tryTake(data);
            if (givenUp) {
                if (lock != null) {
                    lock.close();
                }
                throw new InterruptedException("nobody waits for the broker any longer");
            }
            if (lock != null) {
                return own(lock);
            }
            Properties announced = PipelineLock.announced(data);
            if (announced != null || kafka.servers() != null) {
                var publisher = new KafkaPublisher(kafka.clients(announced));
                borrowed = publisher;
                return publisher;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        throw new RecorderException(
                RecorderException.Code.BROKER,
                "another process holds the pipeline and has not written down how its broker is reached");
    }

    /// A publisher for the cluster that somebody else's ingest reads.
    private KafkaPublisher elsewhere() throws RecorderException, IOException {
        var clients = kafka.clients(null);
        try {
            TopicAdmin.ensure(clients);
        } catch (IngestException e) {
            progress.say(e.getMessage() + "; the run is kept in the spool until the cluster can be reached");
        }
        var publisher = new KafkaPublisher(clients);
        borrowed = publisher;
        try (PipelineLock lock = PipelineLock.tryTake(data)) {
            if (lock != null) { // otherwise whoever has it does this
                recover(() -> Pipeline.recover(data, publisher));
            }
        }
        return publisher;
    }

    private KafkaPublisher own(PipelineLock lock) throws IngestException, RecorderException, IOException {
        Pipeline own = Pipeline.start(lock, data, kafka);
        pipeline = own;
        // Before anything of this run is sent: whoever waits for this run's rows has then waited for theirs.
        recover(() -> Pipeline.recover(data, own.publisher()));
        return own.publisher();
    }

    /// What earlier recorders left behind and is published now.
    private interface Recovery {
        List<SpoolRecovery.Recovered> run() throws RecorderException;
    }

    /// Publishes what earlier recorders left behind; what cannot be published stays in their spools.
    private void recover(Recovery recovery) {
        try {
            recovery.run()
                    .forEach(left -> progress.say("published " + left.batches()
                            + " batches that an earlier recorder of run "
                            + left.run() + " left behind"
                            + (left.quarantined().isEmpty() ? "" : "; damaged ends are in " + left.quarantined())));
        } catch (RecorderException e) {
            progress.say("what earlier recorders left behind could not be published yet: " + e.getMessage());
        }
    }

    /// How far it carries the run.
    Place goal() {
        return kafka.ingest() == Ingest.ELSEWHERE ? Place.BROKER : Place.TABLE;
    }

    /// Waits until everything that was recorded is where it is to get. The spool must be closed.
    ///
    /// @param timeout for everything: the broker's start, its accepting the rest, and ingest
    /// @return null when it is, otherwise why not yet; nothing is lost then
    @Nullable
    String finish(long endIndex, Duration timeout) throws IngestException, IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        starter.join(timeout.compareTo(START_TIMEOUT) < 0 ? timeout : START_TIMEOUT);
        Exception why = failure;
        if (why != null || pump == null) {
            return "the broker " + (starter.isAlive() ? "has not started yet" : "did not start")
                    + (why == null ? "" : ": " + why.getMessage());
        }
        String unsent = sent(deadline);
        return unsent == null && goal() == Place.TABLE ? ingested(endIndex, deadline) : unsent;
    }

    /// Where the run is while the table does not have all of it yet.
    Place whereabouts() throws InterruptedException {
        return spool.awaitEmpty(0) ? Place.BROKER : Place.SPOOL;
    }

    /// Waits until the broker has everything. If the process whose broker we use ends meanwhile, its pipeline
    /// is taken over.
    ///
    /// @return null when it has, otherwise why not
    private @Nullable String sent(long deadline) throws InterruptedException {
        long answered = System.nanoTime();
        while (System.nanoTime() < deadline && System.nanoTime() - answered < BROKER_PATIENCE.toNanos()) {
            if (spool.awaitEmpty(Math.min(LOOK_EVERY.toNanos(), deadline - System.nanoTime()))) {
                return null;
            }
            String why = takeOver();
            if (why != null) {
                return why;
            }
            answered = trouble() == null ? System.nanoTime() : answered;
        }
        String trouble = trouble();
        return "the broker has not accepted everything" + (trouble == null ? "" : ": " + trouble);
    }

    /// Waits for the table, which another process fills as long as it holds the pipeline. If that process ends
    /// before it is done, its pipeline is taken over. A process that ingests nothing more of this run is given up
    /// on after [#TABLE_PATIENCE].
    ///
    /// @return null when the table has the run, otherwise why not
    private @Nullable String ingested(long endIndex, long deadline)
            throws IngestException, IOException, InterruptedException {
        var recordings = DataFiles.unchecked(data);
        long had = recordings.sealedEnd(run);
        long grown = System.nanoTime();
        while (pipeline == null
                && had < endIndex
                && System.nanoTime() < deadline
                && System.nanoTime() - grown < TABLE_PATIENCE.toNanos()) {
            TimeUnit.NANOSECONDS.sleep(TABLE_LOOK_EVERY.toNanos());
            String why = takeOver();
            if (why != null) {
                return why;
            }
            long has = recordings.sealedEnd(run);
            grown = has > had ? System.nanoTime() : grown;
            had = has;
        }
        Pipeline own = pipeline;
        if (own != null) {
            var left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            return own.await(run, endIndex, left)
                    ? null
                    : "ingest has not finished: " + own.ingest().status();
        }
        return had >= endIndex
                ? null
                : "the process that holds the pipeline has ingested " + had + " of " + endIndex + " events";
    }

    /// Takes the pipeline if nobody has it.
    ///
    /// @return why that could not be done, or null
    private @Nullable String takeOver() {
        Exception why;
        try {
            boolean mine = pipeline == null && goal() == Place.TABLE;
            PipelineLock lock = mine ? PipelineLock.tryTake(data) : null;
            if (lock == null) {
                return null;
            }
            try {
                stopPumping();
            } catch (RuntimeException e) {
                lock.close();
                throw e;
            }
            pump = new SpoolPump(spool, own(lock), run.value());
            return null;
        } catch (IngestException | RecorderException | IOException | RuntimeException e) {
            why = e;
        } catch (LinkageError e) {
            why = ending(e);
        }
        return "the work of the process that held the pipeline could not be taken over: " + why.getMessage();
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

    /// Closes, waiting for at most `patience`. Whatever is still being closed then ends with the process, as if
    /// killed: what the broker acknowledged is on the disk, the rest is in the spool, and locks end with their
    /// process.
    void close(Duration patience) throws IOException, InterruptedException {
        if (starter.isAlive()) {
            givenUp = true; // a broker cannot be stopped while it is starting, but need not begin to
            return;
        }
        var fault = new AtomicReference<@Nullable IOException>();
        Thread closing = Thread.ofPlatform().daemon().name("publication-close").start(() -> {
            try {
                close();
            } catch (IOException e) {
                fault.set(e);
            }
        });
        closing.join(patience);
        IOException failed = fault.get();
        if (failed != null) {
            throw failed;
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
