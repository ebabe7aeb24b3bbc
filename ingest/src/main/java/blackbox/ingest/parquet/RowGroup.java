package blackbox.ingest.parquet;

import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Rows of one run, gathered as columns. A leaf whose columns would not give it back byte for byte is kept raw
/// as well.
///
/// Copies what it keeps. Owned by the writer's thread; cleared and used again.
public final class RowGroup {

    /// The most rows a group takes.
    public static final int ROWS_MAX = 1 << 17;

    /// A group is full once it weighs so many octets. The evidence's reader refuses what takes a multiple of
    /// that, so what a guest could choose to make a leaf longer in a file, or in that reader's memory, is
    /// part of the weight.
    private static final long WEIGHT_MAX = 64L << 20;

    /// What an element of a list takes beside its own octets, of which a leaf needs one.
    private static final long ELEMENT_BYTES = 32;

    /// A leaf that is kept raw is there twice, and each of its octets that is no UTF-8 becomes a U+FFFD.
    private static final long RAW_FACTOR = 4;

    private static final int CODES = 128;

    private final byte[] run;
    private final OctetsChunk runs;
    private final NumberChunk indexes;
    private final OctetsChunk raws;
    private final OctetsChunk checkpoints;
    private final @Nullable ColumnChunk[] byFieldId = new ColumnChunk[Column.SLOTS];
    private final ColumnChunk[] inFileOrder;

    private final Row row = new Row();
    private final byte[] encoded = new byte[LeafCodec.BYTES_MAX];
    private final Column[] columns = new Column[Column.SLOTS];
    private final byte[][] kinds = names(Column.KIND);
    private final byte[][] sources = names(Column.SOURCE);

    private int rows;
    private long firstIndex;
    private long weight;

    /// An empty group of `run`'s rows. `seed` is random: guests choose the strings that are hashed with it.
    public RowGroup(RunId run, long seed) {
        this.run = run.value().getBytes(StandardCharsets.US_ASCII);
        runs = new OctetsChunk(EventsTable.RUN, seed);
        indexes = new NumberChunk(EventsTable.INDEX);
        raws = new OctetsChunk(EventsTable.RAW, seed);
        checkpoints = new OctetsChunk(EventsTable.CHECKPOINT, seed);
        inFileOrder =
                EventsTable.COLUMNS.stream().map(column -> chunk(column, seed)).toArray(ColumnChunk[]::new);
        for (Column column : Column.values()) {
            columns[column.fieldId()] = column;
        }
    }

    private ColumnChunk chunk(TableColumn column, long seed) {
        Column source = column.source();
        if (source == null) {
            return switch (column.fieldId()) {
                case 101 -> runs;
                case 102 -> indexes;
                case 103 -> raws;
                case 104 -> checkpoints;
                default -> throw new IllegalStateException("no column of ours: " + column);
            };
        }
        ColumnChunk chunk = switch (column.type()) {
            case INT, LONG -> new NumberChunk(column);
            case STRING, BINARY -> new OctetsChunk(column, seed);
            case STRING_LIST -> new ListChunk(column, seed);
        };
        byFieldId[source.fieldId()] = chunk;
        return chunk;
    }

    /// The names by code; empty where a code has none.
    private static byte[][] names(Column column) {
        var names = new byte[CODES][0];
        for (int code = 0; code < CODES; code++) {
            String name = EventsTable.nameOf(column, code);
            names[code] = name == null ? new byte[0] : name.getBytes(StandardCharsets.UTF_8);
        }
        return names;
    }

    public int rows() {
        return rows;
    }

    /// Index of the first row.
    public long firstIndex() {
        return firstIndex;
    }

    /// Index behind the last row.
    public long endIndex() {
        return firstIndex + rows;
    }

    public boolean isFull() {
        return rows >= ROWS_MAX || weight >= WEIGHT_MAX;
    }

    public void clear() {
        for (ColumnChunk chunk : inFileOrder) {
            chunk.clear();
        }
        rows = 0;
        weight = 0;
    }

    /// Appends the leaf at `[offset, offset + length)`, which has index `index`, with the checkpoint that seals
    /// it, if any.
    ///
    /// @throws IllegalStateException when the group is full or the index does not follow
    public void append(long index, byte[] leaf, int offset, int length, @Nullable String checkpoint) {
        if (isFull() || rows > 0 && index != endIndex()) {
            throw new IllegalStateException(
                    "row " + index + " does not follow the " + rows + " rows from " + firstIndex);
        }
        if (rows == 0) {
            firstIndex = index;
        }
        runs.append(rows, run, 0, run.length);
        indexes.append(rows, index);
        if (!appendColumns(leaf, offset, length)) {
            raws.append(rows, leaf, offset, length);
            weight += (RAW_FACTOR - 1) * length;
        }
        if (checkpoint != null) {
            checkpoints.append(rows, checkpoint);
        }
        rows++;
        weight += length;
    }

    /// Appends the leaf's columns; false where they would not give the leaf back.
    private boolean appendColumns(byte[] leaf, int offset, int length) {
        if (!LeafCodec.decode(leaf, offset, offset + length, row)) {
            return false;
        }
        boolean faithful = LeafCodec.size(row) == length
                && LeafCodec.encode(row, encoded, 0) == length
                && Arrays.equals(encoded, 0, length, leaf, offset, offset + length);
        for (long left = row.presentMask(); left != 0; left &= left - 1) {
            faithful &= appendColumn(columns[Long.numberOfTrailingZeros(left)]);
        }
        return faithful;
    }

    private boolean appendColumn(Column column) {
        return switch (Objects.requireNonNull(byFieldId[column.fieldId()])) {
            case NumberChunk chunk -> {
                chunk.append(rows, row.number(column));
                yield true;
            }
            case ListChunk chunk -> {
                int before = chunk.elements();
                boolean wellFormed = chunk.append(rows, row, column);
                weight += (chunk.elements() - before) * ELEMENT_BYTES;
                yield wellFormed;
            }
            case OctetsChunk chunk ->
                switch (column.type()) {
                    case INT, LONG -> appendName(chunk, column);
                    case BYTES -> {
                        chunk.append(rows, row.array(column), row.offset(column), row.length(column));
                        yield true;
                    }
                    case STRING, STRING_LIST -> appendString(chunk, column);
                };
        };
    }

    private boolean appendName(OctetsChunk chunk, Column column) {
        long code = row.number(column);
        byte[][] names = column == Column.KIND ? kinds : sources;
        if (code < 0 || code >= CODES || names[(int) code].length == 0) {
            return false;
        }
        byte[] name = names[(int) code];
        chunk.append(rows, name, 0, name.length);
        return true;
    }

    private boolean appendString(OctetsChunk chunk, Column column) {
        byte[] array = row.array(column);
        int offset = row.offset(column);
        int length = row.length(column);
        if (Utf8.isWellFormed(array, offset, length)) {
            chunk.append(rows, array, offset, length);
            return true;
        }
        byte[] replaced = Utf8.replaced(array, offset, length);
        chunk.append(rows, replaced, 0, replaced.length);
        return false;
    }

    ColumnChunk[] chunks() {
        return inFileOrder;
    }
}
