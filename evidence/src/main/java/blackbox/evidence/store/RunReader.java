package blackbox.evidence.store;

import blackbox.evidence.parquet.EventFileReader;
import blackbox.files.BoundedFiles;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads a run's rows in order, each index once: from the data files, then from batches that are still in the
/// spool.
///
/// Memory: one row group or one spool segment. Owned by one thread. Reading does not check whether the rows
/// are genuine: that is the verifier's business.
public final class RunReader implements AutoCloseable {

    private static final int PLANS_MAX = 10;

    private final Recordings recordings;
    private final RunId run;
    private final Set<Column> wanted;
    private final Deque<DataFile> files = new ArrayDeque<>();
    private final Deque<SealedBatch> batches = new ArrayDeque<>();
    private @Nullable Deque<Path> segments;
    private @Nullable EventFileReader file;
    private @Nullable LeafCursor leaves;
    private long leafIndex;
    private final Row decoded = new Row();
    private Row row = decoded;
    private @Nullable Text raw;
    private @Nullable String checkpoint;
    private long batchEnd;
    private @Nullable String batchCheckpoint;
    private long index;
    private long next;
    private int plans;

    private RunReader(Recordings recordings, RunId run, long from, Set<Column> wanted) {
        this.recordings = recordings;
        this.run = run;
        this.next = from;
        this.wanted = wanted;
    }

    /// A reader of the present rows, from index `from` on.
    public static RunReader open(Recordings recordings, RunId run, long from) throws IOException {
        return open(recordings, run, from, EnumSet.allOf(Column.class));
    }

    /// The same, with only the `wanted` columns in the rows, which is faster; leaves are not available then.
    public static RunReader open(Recordings recordings, RunId run, long from, Set<Column> wanted) throws IOException {
        var reader = new RunReader(recordings, run, from, wanted);
        reader.plan();
        return reader;
    }

    private void plan() throws IOException {
        files.clear();
        for (DataFile committed : recordings.committedFiles(run)) {
            if (committed.name().endIndex() > next) {
                files.add(committed);
            }
        }
    }

    /// Moves to the next row; false when there are no more.
    public boolean next() throws IOException {
        while (true) {
            EventFileReader open = file;
            if (open != null) {
                if (nextOf(open)) {
                    return true;
                }
                open.close();
                file = null;
            } else if (leaves != null) {
                if (nextLeaf(leaves)) {
                    return true;
                }
                leaves = null;
            } else if (!openNext()) {
                return false;
            }
        }
    }

    private boolean nextOf(EventFileReader open) throws IOException {
        while (open.next()) {
            if (open.index() >= next) {
                index = open.index();
                next = index + 1;
                Text octets = open.raw();
                raw = octets;
                row = octets != null && decode(octets.toBytes()) ? decoded : open.row();
                Text note = open.checkpoint();
                checkpoint = note == null ? null : note.toString();
                return true;
            }
        }
        return false;
    }

    private boolean decode(byte[] leaf) {
        return LeafCodec.decode(leaf, 0, leaf.length, decoded);
    }

    private boolean nextLeaf(LeafCursor cursor) {
        while (cursor.next()) {
            long at = leafIndex++;
            if (at >= next) {
                if (!LeafCodec.decode(cursor.array(), cursor.offset(), cursor.offset() + cursor.length(), decoded)) {
                    decoded.clear();
                }
                row = decoded;
                raw = Text.copyOf(cursor.array(), cursor.offset(), cursor.length());
                index = at;
                next = at + 1;
                checkpoint = next == batchEnd ? batchCheckpoint : null;
                return true;
            }
        }
        return false;
    }

    private boolean openNext() throws IOException {
        DataFile dataFile = files.poll();
        if (dataFile != null) {
            open(dataFile);
            return true;
        }
        SealedBatch batch = nextBatch();
        if (batch == null) {
            return false;
        }
        leaves = batch.leaves();
        leafIndex = batch.firstIndex();
        batchEnd = batch.endIndex();
        batchCheckpoint = batch.checkpoint();
        return true;
    }

    /// Opens a file; if ingest has replaced it meanwhile, the files are listed again.
    private void open(DataFile dataFile) throws IOException {
        try {
            long passed = Math.max(0, next - dataFile.name().firstIndex());
            file = EventFileReader.open(dataFile.open(), run, wanted).skipGroups(passed);
        } catch (NoSuchFileException e) {
            if (++plans > PLANS_MAX) {
                throw e;
            }
            plan();
        }
    }

    private @Nullable SealedBatch nextBatch() throws IOException {
        Deque<Path> left = segments;
        if (left == null) {
            left = new ArrayDeque<>(recordings.spoolSegments(run));
            segments = left;
        }
        while (batches.isEmpty() && !left.isEmpty()) {
            for (SealedBatch batch : read(left.remove()).batches()) {
                if (batch.endIndex() > next) {
                    batches.add(batch);
                }
            }
        }
        return batches.poll();
    }

    /// A segment that has disappeared meanwhile was accepted by the broker.
    private static SpoolSegment read(Path segment) throws IOException {
        try {
            return SpoolSegment.read(BoundedFiles.read(segment, SpoolSegment.BYTES_MAX));
        } catch (NoSuchFileException e) {
            return new SpoolSegment(List.of(), 0, null);
        }
    }

    /// The current row, valid until the next call of [#next].
    public Row row() {
        return row;
    }

    /// The current row's index within the run.
    public long index() {
        return index;
    }

    /// Writes the current row's leaf to `target` from `at` on and returns where it ends. `target` must have
    /// room for [LeafCodec#BYTES_MAX] octets.
    ///
    /// @throws IllegalArgumentException when the row is longer than a leaf can be
    public int leaf(byte[] target, int at) {
        if (wanted.size() < Column.values().length) {
            throw new IllegalStateException("a leaf needs all columns, and this reader has only some");
        }
        Text octets = raw;
        if (octets == null) {
            if (LeafCodec.sizeMax(row) > LeafCodec.BYTES_MAX && LeafCodec.size(row) > LeafCodec.BYTES_MAX) {
                throw new IllegalArgumentException("event " + index + " is longer than a leaf can be");
            }
            return LeafCodec.encode(row, target, at);
        }
        byte[] leaf = octets.toBytes();
        if (leaf.length > LeafCodec.BYTES_MAX) {
            throw new IllegalArgumentException("event " + index + " is longer than a leaf can be");
        }
        System.arraycopy(leaf, 0, target, at, leaf.length);
        return at + leaf.length;
    }

    /// The signed note that the current row's batch ends with; null if the row is not its last.
    public @Nullable String checkpoint() {
        return checkpoint;
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
