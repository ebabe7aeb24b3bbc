package blackbox.ingest.table;

import blackbox.ingest.check.ChainState;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.iceberg.DataFile;
import org.jspecify.annotations.Nullable;

/// One run's rows on their way into files. Owned by the table's writer thread.
///
/// A young run is committed every second, and a file has some 10 KB besides its rows. So the run's latest
/// batches are kept in memory, and once there are enough of them, or the run closes, the small files that
/// hold them are replaced by one. A file is never changed; under load, files are large from the start and
/// nothing is kept in memory.
final class RunFiles {

    /// Small files are merged once they hold this many rows.
    private static final int MERGED_ROWS = RowGroup.ROWS_MAX;

    /// A run's batches are kept up to this many octets; beyond that, its files are left as they are.
    private static final long KEPT_BYTES_MAX = 32L << 20;

    /// The batches of all runs together are kept up to this many octets.
    private static final long KEPT_BYTES_TOTAL_MAX = 256L << 20;

    private final RunId run;
    private final RandomGenerator random;
    private final Path stagingFolder;
    private final RowGroup group;
    private final RetainedBytes total;

    private @Nullable EventFile file;
    private @Nullable Path staging;

    /// Index of the first row that is in no file of the table; -1 while there is none.
    private long continuesAt = -1;

    private final List<SealedBatch> kept = new ArrayList<>();
    private final List<DataFile> small = new ArrayList<>();
    private long keptBytes;
    private boolean keeping = true;
    private boolean closing;

    /// A file that is about to become part of the table, and the files that it replaces.
    ///
    /// @param continuesAt index of its first row that no file of the table has
    record Staged(
            RunId run,
            Path staging,
            DataFileName name,
            WrittenFile written,
            List<DataFile> replaced,
            long continuesAt) {

        /// The keys of the replaced files in the store.
        List<String> replacedKeys() {
            return replaced.stream()
                    .map(DataFile::location)
                    .map(location -> EventTable.key(run, location.substring(location.lastIndexOf('/') + 1)))
                    .toList();
        }
    }

    /// How many octets of batches all runs keep.
    static final class RetainedBytes {
        private long bytes;
    }

    RunFiles(RunId run, Path stagingFolder, RetainedBytes total, RandomGenerator random) {
        this.run = run;
        this.total = total;
        this.stagingFolder = stagingFolder;
        this.random = random;
        this.group = new RowGroup(run, random.nextLong());
    }

    /// Takes the next batch's rows.
    void append(SealedBatch batch) throws IOException {
        continuesAt = continuesAt < 0 ? batch.firstIndex() : continuesAt;
        keep(batch);
        write(batch);
    }

    private void keep(SealedBatch batch) {
        if (!kept.isEmpty() && kept.getLast().endIndex() != batch.firstIndex()) {
            letGo(); // another member of the group committed what is between
        }
        int more = batch.octets().length;
        if (keeping && (keptBytes + more > KEPT_BYTES_MAX || total.bytes + more > KEPT_BYTES_TOTAL_MAX)) {
            letGo();
            keeping = false;
        }
        if (keeping) {
            kept.add(batch);
            keptBytes += more;
            total.bytes += more;
        }
    }

    private void letGo() {
        kept.clear();
        small.clear();
        total.bytes -= keptBytes;
        keptBytes = 0;
    }

    private void write(SealedBatch batch) throws IOException {
        LeafCursor leaves = batch.leaves();
        long last = batch.endIndex() - 1;
        for (long index = batch.firstIndex(); leaves.next(); index++) {
            if (group.isFull()) {
                spill();
            }
            String checkpoint = index == last ? batch.checkpoint() : null;
            group.append(index, leaves.array(), leaves.offset(), leaves.length(), checkpoint);
        }
    }

    private void spill() throws IOException {
        if (file == null) {
            staging = stagingFolder.resolve("%016x.parquet".formatted(random.nextLong()));
            file = new EventFile(staging, random.nextLong());
        }
        file.write(group);
        group.clear();
    }

    /// Declares that no more rows will come.
    void complete() {
        closing = true;
    }

    boolean isComplete() {
        return closing;
    }

    /// Finishes the file for the next commit, forced to the disk; null where there are no rows for one.
    ///
    /// @param state of the run after all rows, or null
    @Nullable
    Staged finish(@Nullable ChainState state) throws IOException {
        if (group.rows() == 0 && file == null) {
            return null;
        }
        List<DataFile> replaced = List.of();
        if (mergePays()) {
            replaced = List.copyOf(small);
            discard();
            for (SealedBatch batch : kept) {
                write(batch);
            }
        }
        if (group.rows() > 0) {
            spill();
        }
        return finished(replaced, closing ? EventsTable.CLOSED : state == null ? "" : state.text());
    }

    private boolean mergePays() {
        return !small.isEmpty() && (closing || keptRows() >= MERGED_ROWS);
    }

    private long keptRows() {
        return kept.isEmpty() ? 0 : kept.getLast().endIndex() - kept.getFirst().firstIndex();
    }

    private Staged finished(List<DataFile> replaced, String state) throws IOException {
        EventFile finishing = file;
        Path path = staging;
        if (finishing == null || path == null) {
            throw new IllegalStateException("run " + run + " has no file to finish");
        }
        WrittenFile written = finishing.finish(state);
        finishing.close();
        file = null;
        staging = null;
        var name = new DataFileName(written.firstIndex(), written.endIndex(), "%08x".formatted(random.nextInt()));
        return new Staged(run, path, name, written, replaced, continuesAt);
    }

    /// The file is part of the table now.
    void committed(DataFile committed, boolean replacedSmall) {
        continuesAt = -1;
        if (closing || replacedSmall || !keeping || keptRows() >= MERGED_ROWS) {
            letGo();
        } else {
            small.add(committed);
        }
        keeping = true;
    }

    /// Drops rows that are not in a finished file.
    private void discard() throws IOException {
        group.clear();
        close();
    }

    /// Drops the rows that are not committed, and what was kept to merge.
    void drop() throws IOException {
        discard();
        letGo();
    }

    void close() throws IOException {
        if (file != null && staging != null) {
            file.close();
            Files.delete(staging);
            file = null;
            staging = null;
        }
    }
}
