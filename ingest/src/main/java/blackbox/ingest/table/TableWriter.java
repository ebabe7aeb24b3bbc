package blackbox.ingest.table;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.files.AtomicFiles;
import blackbox.ingest.IngestException;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.ExpireSnapshots;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.OverwriteFiles;

/// Gathers accepted batches and commits them: one sealed data file per run, and the state, in one snapshot.
/// [RunFiles] turns rows into files.
///
/// Owned by the table's writer thread. After an exception it must be closed and the table opened again; nothing
/// is lost, because offsets move only with rows.
public final class TableWriter implements AutoCloseable {

    /// Snapshots are expired once per so many commits.
    private static final int COMMITS_PER_EXPIRY = 32;

    private static final int SNAPSHOTS_KEPT_MIN = 4;
    private static final long SNAPSHOT_AGE_MAX_MS = 60_000;

    private final EventTable table;
    private final NoteSigner signer;
    private final RandomGenerator random;
    private final CommitStep.Observer observer;
    private final Map<RunId, RunFiles> runs = new LinkedHashMap<>();
    private final RunFiles.RetainedBytes kept = new RunFiles.RetainedBytes();
    private long pendingRows;
    private int commits;

    public TableWriter(EventTable table, NoteSigner signer, RandomGenerator random, CommitStep.Observer observer) {
        this.table = table;
        this.signer = signer;
        this.random = random;
        this.observer = observer;
    }

    /// Rows that wait for the next commit.
    public long pendingRows() {
        return pendingRows;
    }

    /// Adds the batch's rows, which must follow the run's existing ones.
    public void append(SealedBatch batch) throws IngestException {
        try {
            runs.computeIfAbsent(
                            batch.run(), run -> new RunFiles(run, table.layout().staging(), kept, random))
                    .append(batch);
            pendingRows += batch.count();
        } catch (IOException e) {
            throw IngestException.ofIo(
                    "cannot write a data file in " + table.layout().staging(), e);
        }
    }

    /// Declares that the run's last batch was appended: the next commit completes it.
    public void complete(RunId run) {
        RunFiles files = runs.get(run);
        if (files != null) {
            files.complete();
        }
    }

    /// Commits all pending rows together with `state`. When it returns they are in the table; when it throws
    /// they may be, and the table's own state says so.
    ///
    /// @return octets of the data files written
    public long commit(CommitState state) throws IngestException {
        try {
            observer.reached(CommitStep.BEFORE_FILES);
            List<Staged> files = finishFiles();
            observer.reached(CommitStep.FILES_FORCED);
            intent(files).write(table.layout().staging());
            publish(files);
            commit(files, state);
            observer.reached(CommitStep.COMMITTED);
            removeReplaced(files);
            CommitIntent.remove(table.layout().staging());
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

    private List<Staged> finishFiles() throws IOException {
        var files = new ArrayList<Staged>();
        for (RunFiles run : runs.values()) {
            Staged file = run.finish();
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
        Path staging = table.layout().staging();
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

    private void commit(List<Staged> files, CommitState state) {
        boolean replacing = files.stream().anyMatch(file -> !file.replaced().isEmpty());
        var added = new LinkedHashMap<Staged, DataFile>();
        files.forEach(file -> added.put(file, dataFile(file)));
        if (replacing) {
            OverwriteFiles overwrite = table.iceberg().newOverwrite();
            added.values().forEach(overwrite::addFile);
            files.forEach(file -> file.replaced().forEach(overwrite::deleteFile));
            state.properties().forEach(overwrite::set);
            overwrite.commit();
        } else {
            AppendFiles append = table.iceberg().newAppend();
            added.values().forEach(append::appendFile);
            state.properties().forEach(append::set);
            append.commit();
        }
        added.forEach((file, committed) -> {
            RunFiles run = runs.get(file.run());
            if (run != null) {
                run.committed(committed, !file.replaced().isEmpty());
            }
        });
    }

    /// Removes the files that were replaced. If that is interrupted, the next writer does it.
    private void removeReplaced(List<Staged> files) throws IOException {
        for (Staged file : files) {
            for (String replaced : file.replacedKeys()) {
                table.remove(replaced);
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

    /// Drops the metadata of old snapshots at intervals. Data files stay: those that this writer replaced are gone, and
    /// those that another engine took out of the catalog are evidence.
    private void expire() {
        if (++commits % COMMITS_PER_EXPIRY == 0) {
            expire(System.currentTimeMillis() - SNAPSHOT_AGE_MAX_MS, SNAPSHOTS_KEPT_MIN);
        }
    }

    void expire(long olderThanMs, int kept) {
        table.iceberg()
                .expireSnapshots()
                .expireOlderThan(olderThanMs)
                .retainLast(kept)
                .cleanupLevel(ExpireSnapshots.CleanupLevel.METADATA_ONLY)
                .commit();
    }

    @Override
    public void close() throws IngestException {
        try {
            for (RunFiles run : runs.values()) {
                run.close();
            }
        } catch (IOException e) {
            throw IngestException.ofIo(
                    "cannot close a data file in " + table.layout().staging(), e);
        }
    }
}
