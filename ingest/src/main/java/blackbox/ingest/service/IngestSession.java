package blackbox.ingest.service;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.check.BatchCheck;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.check.CheckResult;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.check.Quarantine;
import blackbox.ingest.check.RunStates;
import blackbox.ingest.kafka.BatchConsumer;
import blackbox.ingest.kafka.BatchConsumer.Arrived;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.ingest.table.CommitState;
import blackbox.ingest.table.CommitStep;
import blackbox.ingest.table.EventTable;
import blackbox.ingest.table.TableStates;
import blackbox.ingest.table.TableWriter;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// One life of ingest, from the table's last commit to a stop or a failure. Starting is recovering: it
/// reads its whole state from that commit, and how far a run is when it first meets the run.
///
/// Two threads: one reads and checks batches, the one that calls [#run] writes and commits them; a bounded
/// queue between. What the broker tells a member of a group goes through the same queue, so that it takes
/// effect after the batches that came before it.
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
    private final TableStates states;
    private final TableWriter writer;
    private final BatchConsumer consumer;
    private final BatchCheck check;
    private final Quarantine quarantine;
    private final CommitPacing pacing;

    /// Of its own partitions, as of the last message taken; owned by the writer's thread.
    private final Map<String, Long> offsets = new HashMap<>();

    /// The open runs that the next commit carries on or stops; owned by the writer's thread.
    private final Map<RunId, ChainState> changed = new HashMap<>();

    private final Map<RunId, Long> advanced = new HashMap<>();
    private final Set<RunId> closing = new HashSet<>();

    /// From which partition the open runs come; owned by the checker's thread.
    private final Map<RunId, String> sourceOf = new HashMap<>();

    private final BlockingQueue<Message> queue = new ArrayBlockingQueue<>(QUEUE_BATCHES_MAX);
    private final AtomicReference<@Nullable Map<String, Long>> releasable = new AtomicReference<>();
    private volatile boolean ending;
    /// Whether the checker has handed on all that the topic has.
    private volatile boolean caughtUp;

    private volatile @Nullable Throwable checkFailure;

    /// From the checker's thread to the writer's.
    private sealed interface Message {}

    private record Checked(Arrived record, CheckResult result, long readNs) implements Message {}

    /// What the broker has decided about partitions.
    ///
    /// @param runs the open runs that come from there
    /// @param done where the partitions stand, once the writer has done its part
    private record Reassigned(
            Change change, Set<String> sources, Set<RunId> runs, CompletableFuture<Map<String, Long>> done)
            implements Message {}

    private enum Change {
        ASSIGNED,
        REVOKED,
        LOST
    }

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
        var folder = new DataFolder(settings.data());
        this.table = switch (settings.role()) {
            case IngestRole.Alone _ -> EventTable.openForWriting(folder, settings.files());
            case IngestRole.Member _ -> EventTable.openForGroup(folder, settings.files());
        };
        TableStates opened = null;
        try {
            opened = states(folder);
            this.states = opened;
            this.quarantine = new Quarantine(folder.quarantine(), QUARANTINE_BYTES_MAX);
            this.writer = new TableWriter(table, settings.signer(), new SecureRandom(), observer);
            this.pacing = new CommitPacing(ROWS_PER_COMMIT);
            switch (settings.role()) {
                case IngestRole.Alone(Ownership ownership) -> {
                    this.check = new BatchCheck(settings.trusted(), ownership, states);
                    this.offsets.putAll(table.state().offsets());
                    this.consumer = BatchConsumer.ofAll(settings.clients(), offsets);
                }
                case IngestRole.Member _ -> {
                    this.check = new BatchCheck(settings.trusted(), Ownership.TRUSTED, states);
                    this.consumer = BatchConsumer.inGroup(settings.clients(), group(table, folder), new Membership());
                }
            }
        } catch (IngestException | RuntimeException e) {
            TableStates left = opened;
            try (table;
                    left) {
                throw e;
            }
        }
    }

    /// Whoever writes the same table is in the same group, by whatever path, and nobody who writes a copy of
    /// it: the lock that the members share is the same file, by its device and inode.
    private static String group(EventTable table, DataFolder folder) throws IngestException {
        try {
            Object lock = Files.readAttributes(folder.ingestLock(), BasicFileAttributes.class)
                    .fileKey();
            return "blackbox-" + table.uuid() + "-" + String.valueOf(lock).replaceAll("[^0-9a-z]+", "-");
        } catch (IOException e) {
            throw IngestException.ofIo("cannot identify the data folder " + folder.root(), e);
        }
    }

    private TableStates states(DataFolder folder) throws IngestException {
        EventTable reader = Objects.requireNonNull(EventTable.openForReading(folder), "the table was just opened");
        var trust = new SealTrust(new TransparencyLogReader(folder.log()), this::sealers);
        return new TableStates(reader, settings.files(), trust);
    }

    private List<NoteVerifier> sealers() {
        var sealers = new ArrayList<NoteVerifier>(settings.trusted().get());
        sealers.add(settings.signer().verifier());
        return sealers;
    }

    /// Works until `stopping` ends it, then commits what it has.
    ///
    /// @param works told when it has committed something, or found that there is nothing to commit
    void run(BooleanSupplier stopping, Runnable works) throws IngestException {
        Thread checker = Thread.ofPlatform().name("ingest-check").daemon().start(this::readAndCheck);
        try {
            while (!stopping.getAsBoolean()) {
                Message next = queue.poll(pacing.waitNs(System.nanoTime(), POLL.toNanos()), TimeUnit.NANOSECONDS);
                requireChecker();
                switch (next) {
                    case null -> {
                        if (!pacing.isPending() && caughtUp) {
                            counters.waitingSinceNs = 0;
                            works.run();
                        }
                    }
                    case Checked checked -> apply(checked);
                    case Reassigned reassigned -> reassigned.done().complete(reassign(reassigned));
                }
                lookUp(watermarks.unknown());
                if (pacing.isDue(System.nanoTime(), writer.pendingRows())) {
                    commit();
                    works.run();
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
                List<Arrived> arrived = consumer.poll(POLL);
                long readNs = System.nanoTime();
                counters.unread = consumer.unread();
                caughtUp = arrived.isEmpty() && counters.unread == 0;
                counters.checkingSinceNs = arrived.isEmpty() ? 0 : readNs;
                for (Arrived record : arrived) {
                    hand(new Checked(record, judge(record), readNs));
                }
                counters.checkingSinceNs = 0;
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
            counters.unread = -1;
            consumer.close();
        }
    }

    private CheckResult judge(Arrived record) throws IngestException {
        CheckResult result = check.check(record.key(), record.octets());
        switch (result) {
            case CheckResult.Accepted accepted
            when accepted.closes() -> sourceOf.remove(accepted.batch().run());
            case CheckResult.Accepted accepted -> sourceOf.put(accepted.batch().run(), record.source());
            case CheckResult.Refused refused -> quarantine.keep(refused, clock.instant());
            case CheckResult.Known _, CheckResult.Foreign _ -> {}
        }
        return result;
    }

    private void hand(Message message) throws InterruptedException {
        boolean handed = false;
        while (!handed && !ending) {
            handed = queue.offer(message, POLL.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /// Passes on what the broker tells this member, and waits until the writer has done its part.
    private final class Membership implements BatchConsumer.Assignment {

        @Override
        public Map<String, Long> assigned(Set<String> sources) throws IngestException {
            return ask(Change.ASSIGNED, sources);
        }

        @Override
        public void revoked(Set<String> sources) throws IngestException {
            ask(Change.REVOKED, sources);
        }

        @Override
        public void lost(Set<String> sources) throws IngestException {
            ask(Change.LOST, sources);
        }

        private Map<String, Long> ask(Change change, Set<String> sources) throws IngestException {
            Set<RunId> runs = new HashSet<>();
            sourceOf.forEach((run, source) -> {
                if (sources.contains(source)) {
                    runs.add(run);
                }
            });
            var done = new CompletableFuture<Map<String, Long>>();
            try {
                hand(new Reassigned(change, sources, runs, done));
                while (!ending && !isDone(done)) {
                    // The writer is at work, or about to end.
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IngestException(Code.STOPPED, "interrupted while partitions change hands", e);
            }
            if (!done.isDone()) {
                // What was accepted is dropped and not committed, so it must not be forgotten either: what is read next
                // would look as if it had no predecessor.
                throw new IngestException(Code.STOPPED, "ingest ended while partitions change hands");
            }
            check.forget();
            if (change != Change.ASSIGNED) {
                sourceOf.keySet().removeAll(runs);
            }
            return done.getNow(Map.of());
        }

        private static boolean isDone(CompletableFuture<?> done) throws InterruptedException {
            try {
                done.get(POLL.toMillis(), TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException e) {
                return false;
            } catch (ExecutionException e) {
                throw new IllegalStateException("partitions could not change hands", e);
            }
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
        if (counters.waitingSinceNs == 0) {
            counters.waitingSinceNs = checked.readNs();
        }
        offsets.put(checked.record().source(), checked.record().offset() + 1);
        switch (checked.result()) {
            case CheckResult.Accepted accepted -> accept(accepted, now);
            case CheckResult.Known _ -> {
                counters.known.increment();
                pacing.later(now);
            }
            case CheckResult.Foreign _ -> {
                counters.foreign.increment();
                pacing.later(now);
            }
            case CheckResult.Refused refused -> {
                counters.refused.increment();
                if (refused.run() != null && refused.after() != null) {
                    changed.put(refused.run(), refused.after());
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
            changed.remove(run);
            closing.add(run);
            writer.complete(run);
        } else {
            changed.put(run, accepted.after());
        }
        if (accepted.closes() || watermarks.isWanted(run, accepted.batch().endIndex())) {
            pacing.now(now);
        }
    }

    private void commit() throws IngestException {
        long rows = writer.pendingRows();
        long bytes = writer.commit(new CommitState(offsets, changed));
        counters.rows.add(rows);
        counters.bytes.add(bytes);
        counters.commits.increment();
        for (RunId run : closing) {
            pacing.forget(run);
        }
        watermarks.committed(advanced, stopped(changed));
        releasable.set(Map.copyOf(offsets));
        clean();
    }

    private void clean() {
        changed.clear();
        advanced.clear();
        closing.clear();
        pacing.committed();
        counters.waitingSinceNs = queue.peek() instanceof Checked next ? next.readNs() : 0;
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

    /// Commits what is pending, or drops it if partitions are somebody else's already, so that what the
    /// checker knows of runs can be forgotten; and reads where new partitions stand.
    ///
    /// @return where they stand, if they are new
    private Map<String, Long> reassign(Reassigned told) throws IngestException {
        return switch (told.change()) {
            case ASSIGNED -> {
                if (pacing.isPending()) {
                    commit();
                }
                table.clearUp();
                Map<String, Long> stand = writer.take(told.sources());
                offsets.putAll(stand);
                yield stand;
            }
            case REVOKED -> {
                if (pacing.isPending()) {
                    commit();
                }
                writer.leave(told.runs());
                told.runs().forEach(pacing::forget);
                offsets.keySet().removeAll(told.sources());
                yield Map.of();
            }
            case LOST -> {
                if (!told.sources().containsAll(offsets.keySet())) {
                    throw new IngestException(Code.SUPERSEDED, "the broker gave some of the partitions to others");
                }
                writer.leaveAll();
                told.runs().forEach(pacing::forget);
                offsets.clear();
                clean();
                yield Map.of();
            }
        };
    }

    /// Tells whoever waits for these runs how far they were committed before.
    private void lookUp(Set<RunId> unknown) throws IngestException {
        for (RunId run : unknown) {
            RunStates.Standing standing = states.of(run);
            long end = switch (standing) {
                case RunStates.Unseen _ -> 0;
                case RunStates.Open(ChainState state) -> state.nextIndex();
                case RunStates.Closed(long leaves) -> leaves;
            };
            boolean stopped = standing instanceof RunStates.Open(ChainState state) && state.stoppedBy() != null;
            watermarks.committed(Map.of(run, end), stopped ? Set.of(run) : Set.of());
        }
    }

    @Override
    public void close() throws IngestException {
        try (table;
                states) {
            writer.close();
        }
    }
}
