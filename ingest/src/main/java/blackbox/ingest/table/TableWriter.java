package blackbox.ingest.table;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.files.AtomicFiles;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.ingest.table.RunFiles.Staged;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.ExpireSnapshots;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.OverwriteFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotUpdate;
import org.apache.iceberg.events.CreateSnapshotEvent;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;
import org.jspecify.annotations.Nullable;

/// Gathers accepted batches and commits them: one sealed data file per run, with the run's state in its
/// footer, and the topic's offsets, in one snapshot. [RunFiles] turns rows into files.
///
/// Several may write to one table, each from another partition of the topic. A commit goes through only
/// onto the snapshot that was looked at, only if each partition stands where this writer went on from, and
/// only if nobody has added rows to its runs since; it carries over where the other partitions stand.
///
/// Owned by the table's writer thread. After an exception it must be closed and the table opened again;
/// nothing is lost, because offsets move only with rows.
public final class TableWriter implements AutoCloseable {

    /// Snapshots are expired once per so many commits.
    private static final int COMMITS_PER_EXPIRY = 32;

    /// How often a commit is tried while others commit in between, and how long the pauses become.
    private static final int ATTEMPTS_MAX = 40;

    private static final int PAUSE_BITS_MAX = 9;

    /// In place of a snapshot's id, which is positive.
    private static final long NO_SNAPSHOT = -1;

    private static final long OTHERS = -2;

    private static final int SNAPSHOTS_KEPT_MIN = 4;
    private static final long SNAPSHOT_AGE_MAX_MS = 60_000;

    private final EventTable table;
    private final NoteSigner signer;
    private final RandomGenerator random;
    private final CommitStep.Observer observer;
    private final Map<RunId, RunFiles> runs = new LinkedHashMap<>();
    private final RunFiles.RetainedBytes kept = new RunFiles.RetainedBytes();
    private final Set<RunId> noNote = new HashSet<>();

    /// Where the partitions stand from which this writer goes on, as of its last commit or its assignment.
    private final Map<String, Long> from;

    /// Ingest's last commit, if nobody else's was among those since this writer began: then nobody has added rows
    /// to any of its runs, and no file needs to be looked at. [#OTHERS] once somebody else committed, because what
    /// was looked at then were the runs of one commit, not all that the checker remembers.
    private long lastSeen;

    private long pendingRows;
    private int commits;

    public TableWriter(EventTable table, NoteSigner signer, RandomGenerator random, CommitStep.Observer observer) {
        this.table = table;
        this.signer = signer;
        this.random = random;
        this.observer = observer;
        this.from = new HashMap<>(table.state().offsets());
        this.lastSeen = idOf(table.lastCommit());
    }

    private static long idOf(@Nullable Snapshot snapshot) {
        return snapshot == null ? NO_SNAPSHOT : snapshot.snapshotId();
    }

    /// Goes on with these partitions from where the table says that they stand.
    ///
    /// @return where that is; partitions that are missing begin at their first record
    public Map<String, Long> take(Collection<String> sources) throws IngestException {
        table.refresh();
        var stand = new HashMap<>(table.state().offsets());
        stand.keySet().retainAll(sources);
        from.keySet().removeAll(sources);
        from.putAll(stand);
        return stand;
    }

    /// Lets go of these runs, whose rows are all committed: others go on with them.
    public void leave(Collection<RunId> left) throws IngestException {
        try {
            for (RunId run : left) {
                RunFiles files = runs.remove(run);
                if (files != null) {
                    files.drop();
                }
            }
            noNote.removeAll(left);
        } catch (IOException e) {
            throw IngestException.ofIo("cannot drop a data file in " + table.staging(), e);
        }
    }

    /// Lets go of everything, committed or not.
    public void leaveAll() throws IngestException {
        leave(List.copyOf(runs.keySet()));
        pendingRows = 0;
    }

    /// Rows that wait for the next commit.
    public long pendingRows() {
        return pendingRows;
    }

    /// Adds the batch's rows, which must follow the run's existing ones.
    public void append(SealedBatch batch) throws IngestException {
        try {
            runs.computeIfAbsent(batch.run(), run -> new RunFiles(run, table.staging(), kept, random))
                    .append(batch);
            pendingRows += batch.count();
        } catch (IOException e) {
            throw IngestException.ofIo("cannot write a data file in " + table.staging(), e);
        }
    }

    /// Declares that the run's last batch was appended: the next commit completes it.
    public void complete(RunId run) {
        RunFiles files = runs.get(run);
        if (files != null) {
            files.complete();
        }
    }

    /// Commits all pending rows together with `state`. When it returns they are in the table; when it
    /// throws they may be, and the table's own state says so.
    ///
    /// @param state the offsets of this writer's partitions, and the state of each run that has rows or was
    ///     stopped, unless it closes
    /// @return octets of the data files written
    /// @throws IngestException `SUPERSEDED` when somebody else has gone on with one of its partitions or
    ///     runs: nothing was committed
    public long commit(CommitState state) throws IngestException {
        try {
            observer.reached(CommitStep.BEFORE_FILES);
            List<Staged> files = finishFiles(state);
            observer.reached(CommitStep.FILES_FORCED);
            CommitIntent intent = intent(files);
            intent.write(table.staging());
            publish(files);
            try {
                commit(files, state);
            } catch (IngestException e) {
                if (e.code() == Code.SUPERSEDED) {
                    table.takeBack(intent);
                }
                throw e;
            }
            observer.reached(CommitStep.COMMITTED);
            removeReplaced(files);
            CommitIntent.remove(table.staging());
            observer.reached(CommitStep.REPLACED_REMOVED);
            runs.values().removeIf(RunFiles::isComplete);
            expire();
            pendingRows = 0;
            return files.stream().mapToLong(file -> file.written().sizeBytes()).sum();
        } catch (IOException e) {
            throw IngestException.ofIo(
                    "cannot write to the table in " + table.layout().table(), e);
        } catch (RuntimeException e) {
            throw EventTable.catalogFailure(table.layout(), e);
        }
    }

    private List<Staged> finishFiles(CommitState state) throws IOException {
        var files = new ArrayList<Staged>();
        for (Map.Entry<RunId, RunFiles> run : runs.entrySet()) {
            Staged file = run.getValue().finish(state.runs().get(run.getKey()));
            if (file != null) {
                files.add(file);
            }
        }
        return files;
    }

    private static CommitIntent intent(List<Staged> files) {
        return new CommitIntent(
                files.stream()
                        .map(file -> EventTable.key(file.run(), file.name().toString()))
                        .toList(),
                files.stream().flatMap(file -> file.replacedKeys().stream()).toList());
    }

    /// Seals the files and gives both their final names, the seals first: no data file ever exists without
    /// its seal.
    private void publish(List<Staged> files) throws IOException {
        Path staging = table.staging();
        for (Staged file : files) {
            WrittenFile written = file.written();
            var seal = new FileSeal(file.run(), file.name(), written.rows(), written.sizeBytes(), written.sha256());
            AtomicFiles.stage(
                    staging.resolve(file.name().sealName()),
                    SignedNote.sign(seal.text(), signer).getBytes(StandardCharsets.UTF_8));
        }
        observer.reached(CommitStep.SEALS_FORCED);
        for (Staged file : files) {
            String seal = file.name().sealName();
            table.files().put(EventTable.key(file.run(), seal), staging.resolve(seal));
        }
        observer.reached(CommitStep.SEALS_RENAMED);
        for (Staged file : files) {
            table.files().put(EventTable.key(file.run(), file.name().toString()), file.staging());
        }
        observer.reached(CommitStep.FILES_RENAMED);
    }

    /// Commits onto the table as it is, again and again while others commit in between.
    private void commit(List<Staged> files, CommitState state) throws IngestException, IOException {
        var added = new LinkedHashMap<Staged, DataFile>();
        files.forEach(file -> added.put(file, dataFile(file)));
        table.refresh();
        requireOwn(files, state, table.state());
        note(files, state);
        for (int attempt = 1; ; attempt++) {
            table.refresh();
            CommitState now = table.state();
            requireOwn(files, state, now);
            try {
                commit(added, offsets(now, state));
                break;
            } catch (CommitFailedException | ValidationException e) {
                if (attempt == ATTEMPTS_MAX) {
                    throw e;
                }
                pause(attempt);
            }
        }
        from.putAll(state.offsets());
        added.forEach((file, committed) -> {
            RunFiles run = runs.get(file.run());
            if (run != null) {
                run.committed(committed, !file.replaced().isEmpty());
            }
        });
    }

    private static CommitState offsets(CommitState now, CommitState own) {
        var offsets = new HashMap<>(now.offsets());
        offsets.putAll(own.offsets());
        return new CommitState(offsets, Map.of());
    }

    /// @throws IngestException `SUPERSEDED` when somebody else has gone on with what this writer is about
    ///     to commit
    private void requireOwn(List<Staged> files, CommitState state, CommitState now) throws IngestException {
        for (String source : state.offsets().keySet()) {
            if (!Objects.equals(from.get(source), now.offsets().get(source))) {
                throw superseded("partition " + source + " stands at "
                        + now.offsets().get(source) + " and not at " + from.get(source));
            }
        }
        if (lastSeen == idOf(table.lastCommit())) {
            return;
        }
        var continuesAt = new HashMap<RunId, Long>();
        state.runs().forEach((run, after) -> continuesAt.put(run, after.nextIndex()));
        files.forEach(file -> continuesAt.put(file.run(), file.continuesAt()));
        if (continuesAt.isEmpty()) {
            return;
        }
        var folders = new HashMap<String, Long>();
        continuesAt.forEach((run, index) -> folders.put(EventTable.key(run, ""), index));
        for (Map.Entry<String, Long> there :
                table.committedEnds(continuesAt.keySet()).entrySet()) {
            String folder = there.getKey().substring(0, there.getKey().lastIndexOf('/') + 1);
            if (there.getValue() > folders.getOrDefault(folder, Long.MAX_VALUE)) {
                throw superseded("the table has " + there.getKey() + " by now");
            }
        }
    }

    private static IngestException superseded(String how) {
        return new IngestException(
                Code.SUPERSEDED,
                "another member of the group has gone on where this one was (" + how + "); it starts again from there");
    }

    private void commit(Map<Staged, DataFile> added, CommitState state) {
        long base = idOf(table.iceberg().currentSnapshot());
        boolean alone = lastSeen == idOf(table.lastCommit());
        boolean replacing =
                added.keySet().stream().anyMatch(file -> !file.replaced().isEmpty());
        SnapshotUpdate<?> update;
        if (replacing) {
            OverwriteFiles overwrite = table.iceberg().newOverwrite();
            added.values().forEach(overwrite::addFile);
            added.keySet().forEach(file -> file.replaced().forEach(overwrite::deleteFile));
            update = overwrite;
        } else {
            AppendFiles append = table.iceberg().newAppend();
            added.values().forEach(append::appendFile);
            update = append;
        }
        commit(update, state, base);
        lastSeen = alone && update.updateEvent() instanceof CreateSnapshotEvent event ? event.snapshotId() : OTHERS;
    }

    /// Iceberg looks at the table once more before it commits; if it is no longer what was looked at here,
    /// the offsets that it would carry over are old, and nothing is committed.
    private static void commit(SnapshotUpdate<?> update, CommitState state, long base) {
        state.properties().forEach(update::set);
        update.validateWith(ancestors -> {
            Iterator<Snapshot> latest = ancestors.iterator();
            return base == (latest.hasNext() ? idOf(latest.next()) : NO_SNAPSHOT);
        });
        update.commit();
    }

    private void pause(int attempt) throws IngestException {
        try {
            TimeUnit.MILLISECONDS.sleep(random.nextLong(1L << Math.min(attempt + 2, PAUSE_BITS_MAX)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(Code.STOPPED, "interrupted while other members of the group commit", e);
        }
    }

    /// Puts down the states that no file's footer has: of runs that were stopped after their last row, and
    /// of those that an older version left in the summary. Each says after how many rows it holds, so that
    /// one whose commit fails does no harm.
    private void note(List<Staged> files, CommitState state) throws IOException {
        var left = new HashMap<>(table.state().runs());
        left.putAll(state.runs());
        files.forEach(file -> left.remove(file.run()));
        for (Map.Entry<RunId, ChainState> run : left.entrySet()) {
            Path staged = table.staging().resolve(run.getKey() + "." + EventsTable.STATE_NOTE);
            AtomicFiles.stage(staged, new RunState(run.getKey(), run.getValue()).signedBy(signer));
            String key = EventTable.key(run.getKey(), EventsTable.STATE_NOTE);
            table.files().delete(key);
            table.files().put(key, staged);
            noNote.remove(run.getKey());
        }
    }

    /// Removes the files that were replaced, and states that a footer took the place of. If that is
    /// interrupted, the next writer removes the files, and the states hold for fewer rows than there are.
    private void removeReplaced(List<Staged> files) throws IOException {
        for (Staged file : files) {
            for (String replaced : file.replacedKeys()) {
                table.remove(replaced);
            }
            if (noNote.add(file.run())) {
                table.files().delete(EventTable.key(file.run(), EventsTable.STATE_NOTE));
            }
            RunFiles run = runs.get(file.run());
            if (run == null || run.isComplete()) {
                noNote.remove(file.run());
            }
        }
    }

    private DataFile dataFile(Staged file) {
        WrittenFile written = file.written();
        String location =
                table.files().location(EventTable.key(file.run(), file.name().toString()));
        return DataFiles.builder(IcebergSchema.PARTITIONS)
                .withPath(location)
                .withFormat(FileFormat.PARQUET)
                .withFileSizeInBytes(written.sizeBytes())
                .withRecordCount(written.rows())
                .withPartitionValues(List.of(file.run().value()))
                .withMetrics(metrics(written))
                .withSplitOffsets(written.rowGroupOffsets())
                .withSortOrder(IcebergSchema.SORT_ORDER)
                .build();
    }

    private static Metrics metrics(WrittenFile written) {
        var sizes = new HashMap<Integer, Long>();
        var values = new HashMap<Integer, Long>();
        var nulls = new HashMap<Integer, Long>();
        for (WrittenFile.ColumnSize column : written.columns()) {
            sizes.put(column.fieldId(), column.bytes());
            values.put(column.fieldId(), column.values());
            nulls.put(column.fieldId(), column.nulls());
        }
        int index = EventsTable.INDEX.fieldId();
        return new Metrics(
                written.rows(),
                sizes,
                values,
                nulls,
                Map.of(),
                Map.of(index, longValue(written.firstIndex())),
                Map.of(index, longValue(written.endIndex() - 1)));
    }

    private static ByteBuffer longValue(long value) {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
    }

    /// Drops the metadata of old snapshots at intervals. Data files stay: those that this writer replaced
    /// are gone, and those that another engine took out of the catalog are evidence. The snapshot of a commit whose
    /// intent is still there stays, too: it alone may say that the commit went through.
    private void expire() throws IOException {
        if (++commits % COMMITS_PER_EXPIRY != 0) {
            return;
        }
        Instant then = Instant.now().minusMillis(SNAPSHOT_AGE_MAX_MS);
        if (Staging.isPendingSince(table.layout(), then)) {
            commits--;
        } else {
            expire(then.toEpochMilli(), SNAPSHOTS_KEPT_MIN);
        }
    }

    /// If others commit at the same time, it is left for the next turn.
    void expire(long olderThanMs, int kept) {
        try {
            table.iceberg()
                    .expireSnapshots()
                    .expireOlderThan(olderThanMs)
                    .retainLast(kept)
                    .cleanupLevel(ExpireSnapshots.CleanupLevel.METADATA_ONLY)
                    .commit();
        } catch (CommitFailedException _) {
            commits--;
        }
    }

    @Override
    public void close() throws IngestException {
        try {
            for (RunFiles run : runs.values()) {
                run.close();
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot close a data file in " + table.staging(), e);
        }
    }
}
