package blackbox.query.parquet;

import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ColumnType;
import blackbox.schemas.row.ListEncoder;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.TableColumn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one data file of the events table row by row, in the file's order, into a row that is reused.
///
/// Every row belongs to the run the reader was opened for. Memory: one row group's compressed octets and one
/// page per column, whatever the file's size. Owned by one thread.
public final class EventFileReader implements AutoCloseable {

    private static final int SPAN_ROWS_MAX = 4_096;
    private static final int INDEX = Column.SLOTS;
    private static final int RAW = Column.SLOTS + 1;
    private static final int CHECKPOINT = Column.SLOTS + 2;
    private static final int RUN = Column.SLOTS + 3;

    private static final Map<String, Column> LEAF_COLUMNS = leafColumns();

    private final ParquetFile file;
    private final Slot[] slots;
    private final Row row = new Row();
    private final ListEncoder[] lists = new ListEncoder[Column.SLOTS];
    private final long[] masks = new long[SPAN_ROWS_MAX];
    private final long[] extras = new long[SPAN_ROWS_MAX];
    private final @Nullable Slot[] byFieldId = new Slot[Column.SLOTS];
    private final @Nullable Slot indexSlot;
    private final @Nullable Slot runSlot;
    private final @Nullable Slot rawSlot;
    private final @Nullable Slot checkpointSlot;

    private int group = -1;
    private boolean opened;
    private long rowsLeftInGroup;
    private int spanRows;
    private int spanAt;
    private long index;
    private @Nullable Text raw;
    private @Nullable Text checkpoint;

    /// A column of the file and the field it fills: a leaf's column, or one of the four that are not in the
    /// leaf.
    private record Slot(int field, @Nullable Column column, ColumnCursor cursor) {}

    private EventFileReader(ParquetFile file, Slot[] slots) {
        this.file = file;
        this.slots = slots;
        for (Slot slot : slots) {
            if (slot.column != null) {
                byFieldId[slot.field] = slot;
                lists[slot.field] = new ListEncoder();
            }
        }
        indexSlot = find(slots, INDEX);
        runSlot = find(slots, RUN);
        rawSlot = find(slots, RAW);
        checkpointSlot = find(slots, CHECKPOINT);
    }

    /// Opens a data file of `run`.
    ///
    /// @throws MalformedParquetException when it is no data file of the events table
    public static EventFileReader open(Path path, RunId run) throws IOException {
        ParquetFile file = ParquetFile.open(path);
        try {
            return new EventFileReader(file, slots(file.columns(), run));
        } catch (MalformedParquetException e) {
            file.close();
            throw e;
        }
    }

    private static Slot[] slots(List<LeafColumn> columns, RunId run) throws MalformedParquetException {
        var slots = new ArrayList<Slot>();
        Set<String> names = new HashSet<>();
        for (LeafColumn column : columns) {
            Slot slot = slot(column, run);
            if (slot == null || !names.add(column.name())) {
                throw new MalformedParquetException("column " + column.name() + " is none of the events table's");
            }
            slots.add(slot);
        }
        if (!names.contains("index") || !names.contains("kind")) {
            throw new MalformedParquetException("it has no index or no kind column");
        }
        return slots.toArray(Slot[]::new);
    }

    private static Map<String, Column> leafColumns() {
        var columns = new HashMap<String, Column>();
        for (TableColumn column : EventsTable.COLUMNS) {
            if (column.source() != null) {
                columns.put(column.name(), column.source());
            }
        }
        return Map.copyOf(columns);
    }

    private static @Nullable Slot slot(LeafColumn in, RunId run) {
        PhysicalType octets = PhysicalType.BYTE_ARRAY;
        return switch (in.name()) {
            case "run" -> flat(RUN, in, octets, Map.of(run.value(), 0L));
            case "index" -> flat(INDEX, in, PhysicalType.INT64, null);
            case "raw" -> flat(RAW, in, octets, null);
            case "checkpoint" -> flat(CHECKPOINT, in, octets, null);
            default -> {
                Column column = LEAF_COLUMNS.get(in.name());
                yield column == null ? null : leafSlot(in, column);
            }
        };
    }

    private static @Nullable Slot flat(
            int field, LeafColumn in, PhysicalType type, @Nullable Map<String, Long> symbols) {
        return in.isList() || in.type() != type ? null : new Slot(field, null, new ColumnCursor(in, symbols));
    }

    private static @Nullable Slot leafSlot(LeafColumn in, Column column) {
        Map<String, Long> symbols = symbols(column);
        PhysicalType expected = symbols != null ? PhysicalType.BYTE_ARRAY : physical(column.type());
        boolean fits = in.type() == expected && in.isList() == (column.type() == ColumnType.STRING_LIST);
        return fits ? new Slot(column.fieldId(), column, new ColumnCursor(in, symbols)) : null;
    }

    private static PhysicalType physical(ColumnType type) {
        return switch (type) {
            case INT -> PhysicalType.INT32;
            case LONG -> PhysicalType.INT64;
            case STRING, BYTES, STRING_LIST -> PhysicalType.BYTE_ARRAY;
        };
    }

    /// The words that a column shows in place of its numbers.
    private static @Nullable Map<String, Long> symbols(Column column) {
        if (!EventsTable.storedByName(column)) {
            return null;
        }
        var codes = new HashMap<String, Long>();
        for (long code = 0; code <= Byte.MAX_VALUE; code++) {
            String name = EventsTable.nameOf(column, code);
            if (name != null) {
                codes.put(name, code);
            }
        }
        return codes;
    }

    private static @Nullable Slot find(Slot[] slots, int field) {
        for (Slot slot : slots) {
            if (slot.field == field) {
                return slot;
            }
        }
        return null;
    }

    /// Passes over everything but the last row group, before the first [#next].
    public EventFileReader skipToLastGroup() {
        group = Math.max(group, file.rowGroups().size() - 2);
        return this;
    }

    /// How many rows the file says it has.
    public long rows() {
        return file.rows();
    }

    /// Moves to the next row; false at the end.
    ///
    /// @throws MalformedParquetException when the file's octets do not decode
    public boolean next() throws IOException {
        try {
            while (spanAt == spanRows) {
                if (rowsLeftInGroup == 0 && !nextGroup()) {
                    return false;
                }
                nextSpan();
            }
            fillRow(spanAt++);
            return true;
        } catch (IllegalArgumentException
                | IndexOutOfBoundsException
                | ArithmeticException
                | NegativeArraySizeException e) {
            throw new MalformedParquetException("its data is malformed: " + e.getMessage(), e);
        }
    }

    private boolean nextGroup() throws IOException {
        if (opened) {
            for (Slot slot : slots) {
                slot.cursor.finish();
            }
        }
        opened = true;
        List<RowGroup> groups = file.rowGroups();
        while (++group < groups.size()) {
            RowGroup next = groups.get(group);
            for (int i = 0; i < slots.length; i++) {
                ColumnChunk chunk = next.chunks().get(i);
                slots[i].cursor.open(chunk, file.read(chunk));
            }
            rowsLeftInGroup = next.rows();
            if (rowsLeftInGroup > 0) {
                return true;
            }
        }
        return false;
    }

    private void nextSpan() {
        int rows = (int) Math.min(SPAN_ROWS_MAX, rowsLeftInGroup);
        if (rows == 0) {
            return;
        }
        for (Slot slot : slots) {
            rows = Math.min(rows, slot.cursor.rowsLeftInPage());
        }
        Arrays.fill(masks, 0, rows, 0);
        Arrays.fill(extras, 0, rows, 0);
        for (Slot slot : slots) {
            if (slot.column != null) {
                slot.cursor.markPresent(masks, rows, 1L << slot.field);
            } else {
                slot.cursor.markPresent(extras, rows, 1L << (slot.field & 63));
            }
        }
        spanRows = rows;
        spanAt = 0;
        rowsLeftInGroup -= rows;
    }

    private void fillRow(int at) {
        row.clear();
        for (long left = masks[at]; left != 0; left &= left - 1) {
            Slot slot = byFieldId[Long.numberOfTrailingZeros(left)];
            if (slot == null || slot.column == null) {
                throw new IllegalArgumentException("a value belongs to no column");
            }
            fillColumn(slot.cursor, slot.column);
        }
        fillExtras(extras[at]);
    }

    private void fillColumn(ColumnCursor cursor, Column column) {
        switch (column.type()) {
            case INT, LONG -> row.set(column, cursor.nextNumber());
            case STRING, BYTES -> {
                PageValues text = cursor.nextText();
                row.set(column, text.octets(), text.offset(), text.length());
            }
            case STRING_LIST -> {
                ListEncoder list = lists[column.fieldId()];
                cursor.nextList(list);
                list.into(row, column);
            }
        }
    }

    private void fillExtras(long there) {
        if (indexSlot == null || runSlot == null || !isThere(there, INDEX) || !isThere(there, RUN)) {
            throw new IllegalArgumentException("a row has no run or no index");
        }
        runSlot.cursor.nextNumber(); // its only symbol is the run, so any other run is malformed
        index = indexSlot.cursor.nextNumber();
        raw = rawSlot != null && isThere(there, RAW) ? copy(rawSlot.cursor) : null;
        checkpoint = checkpointSlot != null && isThere(there, CHECKPOINT) ? copy(checkpointSlot.cursor) : null;
    }

    private static boolean isThere(long extras, int field) {
        return (extras >>> (field & 63) & 1) != 0;
    }

    private static Text copy(ColumnCursor cursor) {
        PageValues text = cursor.nextText();
        return Text.copyOf(text.octets(), text.offset(), text.length());
    }

    /// The current row, valid until the next call of [#next].
    public Row row() {
        return row;
    }

    /// The current row's index within the run.
    public long index() {
        return index;
    }

    /// The leaf's octets, for a row whose columns cannot say them.
    public @Nullable Text raw() {
        return raw;
    }

    /// The signed note that this row's batch ends with.
    public @Nullable Text checkpoint() {
        return checkpoint;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
