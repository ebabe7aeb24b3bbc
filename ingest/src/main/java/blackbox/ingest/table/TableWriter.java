package blackbox.ingest.table;

import blackbox.ingest.IngestException;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.log.NoteSigner;
import blackbox.schemas.log.SignedNote;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Metrics;
import org.jspecify.annotations.Nullable;

/// Gathers believed batches and commits them: one sealed data file per run, and the state, in one snapshot.
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
    private final Map<RunId, Pending> pending = new LinkedHashMap<>();
    private long pendingRows;
    private int commits;

    /// A run's rows since the last commit: full groups in a staging file, the rest in memory.
    private static final class Pending {
        final RowGroup group;

        @Nullable
        EventFile file;

        @Nullable
        Path staging;

        Pending(RowGroup group) {
            this.group = group;
        }
    }

    /// A file that is about to become part of the table.
    private record Staged(RunId run, Path staging, DataFileName name, WrittenFile written) {}

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

    /// Takes the batch's rows, which follow those of the run that are there.
    public void append(SealedBatch batch) throws IngestException {
        Pending run = pending.computeIfAbsent(batch.run(), id -> new Pending(new RowGroup(id, random.nextLong())));
        LeafCursor leaves = batch.leaves();
        long last = batch.endIndex() - 1;
        for (long index = batch.firstIndex(); leaves.next(); index++) {
            if (run.group.isFull()) {
                spill(run);
            }
            String checkpoint = index == last ? batch.checkpoint() : null;
            run.group.append(index, leaves.array(), leaves.offset(), leaves.length(), checkpoint);
        }
        pendingRows += batch.count();
    }

    private void spill(Pending run) throws IngestException {
        try {
            if (run.file == null) {
                Path staging = table.layout().staging().resolve("%016x.parquet".formatted(random.nextLong()));
                run.staging = staging;
                run.file = new EventFile(staging, random.nextLong());
            }
            run.file.write(run.group);
            run.group.clear();
        } catch (IOException e) {
            throw IngestException.ofIo(
                    "cannot write a data file in " + table.layout().staging(), e);
        }
    }

    /// Commits all pending rows together with `state`. When it returns they are in the table; when it throws
    /// they may be, and the table's own state says so.
    ///
    /// @return octets of the data files written
    public long commit(CommitState state) throws IngestException {
        try {
            observer.reached(CommitStep.BEFORE_FILES);
            List<Staged> files = writeFiles();
            observer.reached(CommitStep.FILES_FORCED);
            publish(files);
            append(files, state);
            observer.reached(CommitStep.COMMITTED);
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

    private List<Staged> writeFiles() throws IOException, IngestException {
        var files = new ArrayList<Staged>();
        for (Map.Entry<RunId, Pending> entry : pending.entrySet()) {
            Pending run = entry.getValue();
            if (run.group.rows() > 0) {
                spill(run);
            }
            if (run.file != null && run.staging != null) {
                WrittenFile written = run.file.finish();
                run.file.close();
                var name =
                        new DataFileName(written.firstIndex(), written.endIndex(), "%08x".formatted(random.nextInt()));
                files.add(new Staged(entry.getKey(), run.staging, name, written));
                run.file = null;
                run.staging = null;
            }
        }
        return files;
    }

    /// Seals the files and gives both their final names, the seals first: no data file is ever there without
    /// its seal.
    private void publish(List<Staged> files) throws IOException {
        Path staging = table.layout().staging();
        for (Staged file : files) {
            WrittenFile written = file.written();
            var seal = new FileSeal(file.run(), file.name(), written.rows(), written.sizeBytes(), written.sha256());
            Durable.write(
                    staging.resolve(file.name().sealName()),
                    SignedNote.sign(seal.text(), signer).getBytes(StandardCharsets.UTF_8));
        }
        observer.reached(CommitStep.SEALS_FORCED);
        for (Staged file : files) {
            Path folder = table.layout().dataFiles(file.run());
            Durable.createFolders(folder);
            String seal = file.name().sealName();
            Files.move(staging.resolve(seal), folder.resolve(seal), StandardCopyOption.ATOMIC_MOVE);
        }
        observer.reached(CommitStep.SEALS_RENAMED);
        for (Staged file : files) {
            Path folder = table.layout().dataFiles(file.run());
            Files.move(file.staging(), folder.resolve(file.name().toString()), StandardCopyOption.ATOMIC_MOVE);
            Durable.forceFolder(folder);
        }
        observer.reached(CommitStep.FILES_RENAMED);
    }

    private void append(List<Staged> files, CommitState state) {
        AppendFiles append = table.iceberg().newAppend();
        for (Staged file : files) {
            append.appendFile(dataFile(file));
        }
        state.properties().forEach(append::set);
        append.commit();
    }

    private DataFile dataFile(Staged file) {
        WrittenFile written = file.written();
        Path path = table.layout().dataFiles(file.run()).resolve(file.name().toString());
        return DataFiles.builder(IcebergSchema.PARTITIONS)
                .withPath(path.toString())
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

    /// Drops the metadata of old snapshots now and then; data files stay, since every snapshot only adds some.
    private void expire() {
        if (++commits % COMMITS_PER_EXPIRY == 0) {
            table.iceberg()
                    .expireSnapshots()
                    .expireOlderThan(System.currentTimeMillis() - SNAPSHOT_AGE_MAX_MS)
                    .retainLast(SNAPSHOTS_KEPT_MIN)
                    .commit();
        }
    }

    /// Forgets a run's buffers; to be called when it is closed and committed.
    public void forget(RunId run) {
        pending.remove(run);
    }

    @Override
    public void close() throws IngestException {
        try {
            for (Pending run : pending.values()) {
                if (run.file != null) {
                    run.file.close();
                }
            }
        } catch (IOException e) {
            throw IngestException.ofIo(
                    "cannot close a data file in " + table.layout().staging(), e);
        }
    }
}
