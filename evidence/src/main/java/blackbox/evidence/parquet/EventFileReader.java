package blackbox.evidence.parquet;

import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ColumnType;
import blackbox.schemas.row.ListEncoder;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.StoredNames;
import blackbox.schemas.table.TableColumn;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads one data file of the events table row by row, in the file's order, into a row that is reused.
///
/// Every row belongs to the run for which the reader was opened. Memory: one row group's compressed octets
/// and one page per column, whatever the file's size. Owned by one thread.
public final class EventFileReader implements AutoCloseable {

    private static final int SPAN_ROWS_MAX = 4_096;
    private static final int INDEX = Column.SLOTS;
    private static final int RAW = Column.SLOTS + 1;
    private static final int CHECKPOINT = Column.SLOTS + 2;
    private static final int RUN = Column.SLOTS + 3;
    private static final int FIELDS = Column.SLOTS + 4;

    private static final Map<String, Column> LEAF_COLUMNS = leafColumns();

    private final ParquetFile file;
    private final WriterNames names;
    private final long columnMask;
    private final Slot[] slots;
    private final Row row = new Row();
    private final @Nullable ListEncoder[] lists = new ListEncoder[Column.SLOTS];
    private final long[] masks = new long[SPAN_ROWS_MAX];
    private final long[] extras = new long[SPAN_ROWS_MAX];
    private final @Nullable Slot[] byField = new Slot[FIELDS];

    // By field, for the current span: the page's arrays, and where the next value is in them. Kept here
    // because going from slot to cursor to page for each value costs more than the value itself.
    private final long[][] numbers = new long[FIELDS][];
    private final byte[][] octets = new byte[FIELDS][];
    private final int[][] offsets = new int[FIELDS][];
    private final int[][] lengths = new int[FIELDS][];
    private final int[] nextValue = new int[FIELDS];

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
    ///
    /// @param place among the file's columns
    private record Slot(int place, int field, @Nullable Column column, ColumnCursor cursor) {}

    /// The names that the file's writer knew for codes.
    private record WriterNames(StoredNames kinds, StoredNames sources) {

        static WriterNames in(ParquetFile file) throws MalformedParquetException {
            return new WriterNames(names(file, Column.KIND), names(file, Column.SOURCE));
        }

        private static StoredNames names(ParquetFile file, Column column) throws MalformedParquetException {
            StoredNames names = StoredNames.parse(column, file.note(StoredNames.key(column)));
            if (names == null) {
                throw new MalformedParquetException("what it notes as " + StoredNames.key(column) + " is invalid");
            }
            return names;
        }

        StoredNames of(Column column) {
            return column == Column.KIND ? kinds : sources;
        }
    }

    private EventFileReader(ParquetFile file, WriterNames names, Slot[] slots) {
        this.file = file;
        this.names = names;
        this.slots = slots;
        long mask = 0;
        for (LeafColumn in : file.columns()) {
            Column column = LEAF_COLUMNS.get(in.name());
            mask |= column == null ? 0 : 1L << column.fieldId();
        }
        columnMask = mask;
        for (Slot slot : slots) {
            byField[slot.field] = slot;
            if (slot.column != null && slot.column.type() == ColumnType.STRING_LIST) {
                lists[slot.field] = new ListEncoder();
            }
        }
    }

    /// Opens a data file of `run`.
    ///
    /// @throws MalformedParquetException when it is not a data file of the events table
    public static EventFileReader open(Path path, RunId run) throws IOException {
        return open(LocalStore.file(path), run, EnumSet.allOf(Column.class));
    }

    /// The same for an open file, which is closed together with the reader, or at once if this fails.
    ///
    /// @throws MalformedParquetException when it is not a data file of the events table
    public static EventFileReader open(StoredFile stored, RunId run) throws IOException {
        return open(stored, run, EnumSet.allOf(Column.class));
    }

    /// The same, with only the `wanted` columns in the rows: the others are neither read nor checked.
    ///
    /// @throws MalformedParquetException when it is not a data file of the events table
    public static EventFileReader open(StoredFile stored, RunId run, Set<Column> wanted) throws IOException {
        ParquetFile file = ParquetFile.open(stored);
        try {
            var names = WriterNames.in(file);
            return new EventFileReader(file, names, slots(file.columns(), run, wanted, names));
        } catch (MalformedParquetException e) {
            file.close();
            throw e;
        }
    }

    private static Slot[] slots(List<LeafColumn> columns, RunId run, Set<Column> wanted, WriterNames writer)
            throws MalformedParquetException {
        var slots = new ArrayList<Slot>();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < columns.size(); i++) {
            LeafColumn column = columns.get(i);
            Slot slot = slot(i, column, run, writer);
            if (slot == null && isNewer(column)) {
                throw new NewerFileException(column.name());
            }
            if (slot == null || !names.add(column.name())) {
                throw new MalformedParquetException("column " + column.name() + " is not a column of the events table");
            }
            if (slot.column == null || wanted.contains(slot.column)) {
                slots.add(slot);
            }
        }
        if (!names.contains("index") || !names.contains("kind")) {
            throw new MalformedParquetException("it has no index or no kind column");
        }
        return slots.toArray(Slot[]::new);
    }

    /// Whether a newer version may have added the column: its field id is in the range of leaf columns and
    /// not in use yet.
    private static boolean isNewer(LeafColumn column) {
        boolean ofLeaf = column.fieldId() > 0 && column.fieldId() < Column.SLOTS;
        return ofLeaf
                && EventsTable.COLUMNS.stream()
                        .noneMatch(known -> known.fieldId() == column.fieldId()
                                || known.name().equals(column.name()));
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

    private static @Nullable Slot slot(int place, LeafColumn in, RunId run, WriterNames writer) {
        PhysicalType octets = PhysicalType.BYTE_ARRAY;
        return switch (in.name()) {
            case "run" -> flat(place, RUN, in, octets, Map.of(run.value(), 0L));
            case "index" -> flat(place, INDEX, in, PhysicalType.INT64, null);
            case "raw" -> flat(place, RAW, in, octets, null);
            case "checkpoint" -> flat(place, CHECKPOINT, in, octets, null);
            default -> {
                Column column = LEAF_COLUMNS.get(in.name());
                yield column == null ? null : leafSlot(place, in, column, writer);
            }
        };
    }

    private static @Nullable Slot flat(
            int place, int field, LeafColumn in, PhysicalType type, @Nullable Map<String, Long> symbols) {
        return in.isList() || in.type() != type ? null : new Slot(place, field, null, new ColumnCursor(in, symbols));
    }

    private static @Nullable Slot leafSlot(int place, LeafColumn in, Column column, WriterNames writer) {
        Map<String, Long> symbols =
                EventsTable.storedByName(column) ? writer.of(column).codes() : null;
        PhysicalType expected = symbols != null ? PhysicalType.BYTE_ARRAY : physical(column.type());
        boolean fits = in.type() == expected && in.isList() == (column.type() == ColumnType.STRING_LIST);
        return fits ? new Slot(place, column.fieldId(), column, new ColumnCursor(in, symbols)) : null;
    }

    private static PhysicalType physical(ColumnType type) {
        return switch (type) {
            case INT -> PhysicalType.INT32;
            case LONG -> PhysicalType.INT64;
            case STRING, BYTES, STRING_LIST -> PhysicalType.BYTE_ARRAY;
        };
    }

    /// The field ids of the leaf columns that the file has, as a bit mask. A writer that knew fewer columns
    /// than we do made a file with fewer.
    public long columnMask() {
        return columnMask;
    }

    /// Whether the file's writer knew a name for that code of `kind` or `source`.
    public boolean names(Column column, long code) {
        return names.of(column).names(code);
    }

    /// Skips everything but the last row group; to be called before the first [#next].
    public EventFileReader skipToLastGroup() {
        group = Math.max(group, file.rowGroups().size() - 2);
        return this;
    }

    /// Skips the row groups that lie within the first `rows` rows; to be called before the first [#next].
    public EventFileReader skipGroups(long rows) {
        List<RowGroup> groups = file.rowGroups();
        long left = rows;
        while (group + 1 < groups.size() && groups.get(group + 1).rows() <= left) {
            group++;
            left -= groups.get(group).rows();
        }
        return this;
    }

    /// How many rows the file says it has.
    public long rows() {
        return file.rows();
    }

    /// Moves to the next row; false at the end.
    ///
    /// @throws MalformedParquetException when the file's octets do not decode
    /// @throws IOException when they cannot be read, also for want of memory
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
        } catch (UncheckedIOException e) {
            throw e.getCause();
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
            for (Slot slot : slots) {
                slot.cursor.open(next.chunks().get(slot.place), file);
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
            openSpan(slot, rows);
        }
        spanRows = rows;
        spanAt = 0;
        rowsLeftInGroup -= rows;
    }

    private void openSpan(Slot slot, int rows) {
        int field = slot.field;
        int there = slot.cursor.markPresent(slot.column != null ? masks : extras, rows, 1L << (field & 63));
        PageValues values = slot.cursor.values();
        numbers[field] = values.numbers();
        octets[field] = values.octets();
        offsets[field] = values.offsets();
        lengths[field] = values.lengths();
        nextValue[field] = values.take(there);
    }

    private void fillRow(int at) {
        row.clear();
        for (long left = masks[at]; left != 0; left &= left - 1) {
            int field = Long.numberOfTrailingZeros(left);
            Slot slot = byField[field];
            if (slot == null || slot.column == null) {
                throw new IllegalArgumentException("a value belongs to no column");
            }
            fillColumn(field, slot.column, slot.cursor);
        }
        fillExtras(extras[at]);
    }

    private void fillColumn(int field, Column column, ColumnCursor cursor) {
        switch (column.type()) {
            case INT, LONG -> row.set(column, numbers[field][nextValue[field]++]);
            case STRING, BYTES -> {
                int i = nextValue[field]++;
                row.set(column, octets[field], offsets[field][i], lengths[field][i]);
            }
            case STRING_LIST -> {
                ListEncoder list = lists[field];
                if (list == null) {
                    throw new IllegalArgumentException("a list belongs to no column");
                }
                cursor.nextList(list);
                list.into(row, column);
            }
        }
    }

    /// The run needs no check: its only symbol is the run that this reader is for, and any other is
    /// malformed.
    private void fillExtras(long there) {
        if (!isThere(there, INDEX) || !isThere(there, RUN)) {
            throw new IllegalArgumentException("a row has no run or no index");
        }
        index = numbers[INDEX][nextValue[INDEX]++];
        raw = isThere(there, RAW) ? copy(RAW) : null;
        checkpoint = isThere(there, CHECKPOINT) ? copy(CHECKPOINT) : null;
    }

    private static boolean isThere(long extras, int field) {
        return (extras >>> (field & 63) & 1) != 0;
    }

    private Text copy(int field) {
        int i = nextValue[field]++;
        return Text.copyOf(octets[field], offsets[field][i], lengths[field][i]);
    }

    /// What the file's footer notes under this key; empty if nothing.
    public String note(String key) {
        return file.note(key);
    }

    /// The current row, valid until the next call of [#next].
    public Row row() {
        return row;
    }

    /// The current row's index within the run.
    public long index() {
        return index;
    }

    /// The leaf's octets, for a row whose columns cannot express them.
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
