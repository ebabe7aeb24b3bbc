package blackbox.ingest.service;

import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.check.BatchCheck;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.check.CheckResult;
import blackbox.ingest.check.Quarantine;
import blackbox.ingest.kafka.BatchConsumer;
import blackbox.ingest.kafka.BatchConsumer.Arrived;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.ingest.table.CommitState;
import blackbox.ingest.table.CommitStep;
import blackbox.ingest.table.EventTable;
import blackbox.ingest.table.TableWriter;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One life of ingest, from the table's last commit to a stop or a failure. Starting is recovering: it reads
/// its whole state from that commit.
///
/// Two threads: one reads and checks batches, the one that calls [#run] writes and commits them; a bounded
/// queue between.
final class IngestSession implements AutoCloseable {

    private static final int QUEUE_BATCHES_MAX = 16;
    private static final long ROWS_PER_COMMIT = 500_000;
    private static final long QUARANTINE_BYTES_MAX = 1L << 30;
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration RELEASE_INTERVAL = Duration.ofSeconds(30);

    private final IngestSettings settings;
    private final InstantSource clock;
    private final IngestCounters counters;
    private final Watermarks watermarks;

    private final EventTable table;
    private final TableWriter writer;
    private final BatchConsumer consumer;
    private final BatchCheck check;
    private final Quarantine quarantine;
    private final CommitPacing pacing;

    /// As of the last message taken; owned by the writer's thread.
    private final Map<String, Long> offsets;

    private final Map<RunId, ChainState> runs;
    private final Map<RunId, Long> advanced = new HashMap<>();
    private final Set<RunId> closing = new HashSet<>();

    private final BlockingQueue<Checked> queue = new ArrayBlockingQueue<>(QUEUE_BATCHES_MAX);
    private final AtomicReference<@Nullable Map<String, Long>> releasable = new AtomicReference<>();
    private volatile boolean ending;
    private volatile @Nullable Throwable checkFailure;

    private record Checked(Arrived record, CheckResult result) {}

    /// Opens the table and the topic.
    IngestSession(
            IngestSettings settings,
            InstantSource clock,
            CommitStep.Observer observer,
            IngestCounters counters,
            Watermarks watermarks)
            throws IngestException {
        this.settings = settings;
        this.clock = clock;
        this.counters = counters;
        this.watermarks = watermarks;
        this.table = EventTable.openForWriting(new DataFolder(settings.data()), settings.files());
        try {
            CommitState state = table.state();
            Map<RunId, Long> lengths = table.lengths();
            this.offsets = new HashMap<>(state.offsets());
            this.runs = new HashMap<>(state.runs());
            this.check = new BatchCheck(settings.trusted(), runs, lengths);
            this.quarantine = new Quarantine(new DataFolder(settings.data()).quarantine(), QUARANTINE_BYTES_MAX);
            this.writer = new TableWriter(table, settings.signer(), new SecureRandom(), observer);
            this.consumer = new BatchConsumer(settings.clients(), offsets);
            this.pacing = new CommitPacing(ROWS_PER_COMMIT);
            watermarks.committed(lengths, stopped(runs));
        } catch (IngestException | RuntimeException e) {
            table.close();
            throw e;
        }
    }

    private static Set<RunId> stopped(Map<RunId, ChainState> runs) {
        var stopped = new HashSet<RunId>();
        runs.forEach((run, state) -> {
            if (state.stoppedBy() != null) {
                stopped.add(run);
            }
        });
        return stopped;
    }

    /// Works until `stopping` ends it, then commits what it has.
    void run(BooleanSupplier stopping) throws IngestException {
        Thread checker = Thread.ofPlatform().name("ingest-check").daemon().start(this::readAndCheck);
        try {
            while (!stopping.getAsBoolean()) {
                Checked next = queue.poll(pacing.waitNs(System.nanoTime(), POLL.toNanos()), TimeUnit.NANOSECONDS);
                requireChecker();
                if (next != null) {
                    apply(next);
                }
                if (pacing.isDue(System.nanoTime(), writer.pendingRows())) {
                    commit();
                }
            }
            if (pacing.isPending()) {
                commit();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(Code.STOPPED, "ingest was interrupted", e);
        } finally {
            end(checker);
        }
    }

    private void end(Thread checker) {
        ending = true;
        boolean interrupted = Thread.interrupted();
        while (checker.isAlive()) {
            try {
                queue.clear();
                checker.join(POLL.toMillis());
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void requireChecker() throws IngestException {
        switch (checkFailure) {
            case null -> {}
            case IngestException e -> throw e;
            case Throwable e -> throw new IllegalStateException("the check of batches broke", e);
        }
    }

    // ---- the checker's thread

    private void readAndCheck() {
        try {
            long released = System.nanoTime();
            while (!ending) {
                for (Arrived record : consumer.poll(POLL)) {
                    hand(new Checked(record, judge(record)));
                }
                if (System.nanoTime() - released > RELEASE_INTERVAL.toNanos()) {
                    release();
                    released = System.nanoTime();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IngestException | RuntimeException | Error e) {
            checkFailure = e;
        } finally {
            consumer.close();
        }
    }

    private CheckResult judge(Arrived record) throws IngestException {
        CheckResult result = check.check(record.key(), record.octets());
        if (result instanceof CheckResult.Refused refused) {
            quarantine.keep(refused, clock.instant());
        }
        return result;
    }

    private void hand(Checked checked) throws InterruptedException {
        boolean handed = false;
        while (!handed && !ending) {
            handed = queue.offer(checked, POLL.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void release() throws IngestException {
        Map<String, Long> committed = releasable.getAndSet(null);
        if (committed != null && settings.retention() == TopicRetention.RELEASE_COMMITTED) {
            consumer.release(committed);
        }
    }

    // ---- the writer's thread

    private void apply(Checked checked) throws IngestException {
        long now = System.nanoTime();
        offsets.put(checked.record().source(), checked.record().offset() + 1);
        switch (checked.result()) {
            case CheckResult.Accepted accepted -> accept(accepted, now);
            case CheckResult.Known _ -> {
                counters.known.increment();
                pacing.later(now);
            }
            case CheckResult.Refused refused -> {
                counters.refused.increment();
                if (refused.run() != null && refused.after() != null) {
                    runs.put(refused.run(), refused.after());
                    pacing.now(now);
                }
                pacing.later(now);
            }
        }
    }

    private void accept(CheckResult.Accepted accepted, long now) throws IngestException {
        RunId run = accepted.batch().run();
        writer.append(accepted.batch());
        counters.batches.increment();
        advanced.put(run, accepted.batch().endIndex());
        pacing.rows(run, accepted.batch().sealedAtNs(), now);
        if (accepted.closes()) {
            runs.remove(run);
            closing.add(run);
            writer.complete(run);
        } else {
            runs.put(run, accepted.after());
        }
        if (accepted.closes() || watermarks.isWanted(run, accepted.batch().endIndex())) {
            pacing.now(now);
        }
    }

    private void commit() throws IngestException {
        long rows = writer.pendingRows();
        long bytes = writer.commit(new CommitState(offsets, runs));
        counters.rows.add(rows);
        counters.bytes.add(bytes);
        counters.commits.increment();
        for (RunId run : closing) {
            pacing.forget(run);
        }
        watermarks.committed(advanced, stopped(runs));
        releasable.set(Map.copyOf(offsets));
        advanced.clear();
        closing.clear();
        pacing.committed();
    }

    @Override
    public void close() throws IngestException {
        try {
            writer.close();
        } finally {
            table.close();
        }
    }
}
