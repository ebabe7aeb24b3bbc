package blackbox.evidence.parquet;

import blackbox.schemas.table.EventsTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What the footer says (Parquet format, `FileMetaData`): the leaf columns, the row groups with their chunks,
/// and what Blackbox has noted in the key-value metadata.
///
/// Nothing else is accepted: a field that is not known here is refused wherever it occurs, and so is a key in the
/// metadata that is not ours, since engines take column types from some (`ARROW:schema`, Spark's).
record ParquetFooter(List<LeafColumn> columns, long rows, List<RowGroup> rowGroups, Map<String, String> notes) {

    static final long CHUNK_BYTES_MAX = 256L << 20;
    static final long ROWS_MAX = 1L << 31;
    private static final int COLUMNS_MAX = 256;
    private static final int GROUPS_MAX = 1 << 16;
    private static final int NOTES_MAX = 1 << 10;

    /// The prefix of our keys in the key-value metadata.
    private static final String OURS = "blackbox.";

    ParquetFooter {
        columns = List.copyOf(columns);
        rowGroups = List.copyOf(rowGroups);
        notes = Map.copyOf(notes);
        long sum = 0;
        for (RowGroup group : rowGroups) {
            sum += group.rows();
        }
        if (sum != rows) {
            throw new IllegalArgumentException("the row groups hold " + sum + " rows, but the footer says " + rows);
        }
    }

    static ParquetFooter parse(byte[] array, int from, int end) {
        var in = new CompactThrift(array, from, end);
        List<LeafColumn> columns = List.of();
        List<RowGroup> groups = List.of();
        Map<String, String> notes = Map.of();
        long rows = -1;
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1 -> requireVersion(in.int32());
                case 2 -> columns = columns(in, array);
                case 3 -> rows = in.int64();
                case 4 -> groups = rowGroups(in, columns);
                case 5 -> notes = notes(in);
                case 6 -> in.string(); // who wrote it
                case 7 -> orders(in, columns.size());
                default -> throw in.unknown("the footer", id);
            }
        }
        requireLayout(notes.get(EventsTable.LAYOUT_KEY), groups);
        if (in.position() != end) {
            throw new IllegalArgumentException("something follows the footer's last field");
        }
        return new ParquetFooter(columns, rows, groups, notes);
    }

    private static void requireVersion(int version) {
        if (version != 1 && version != 2) {
            throw new IllegalArgumentException("version " + version + " of Parquet is not one that Blackbox writes");
        }
    }

    /// Engines skip pages by their indexes, and nothing checks these against the pages: none since layout 2.
    private static void requireLayout(@Nullable String layout, List<RowGroup> groups) {
        if (layout == null) {
            return;
        }
        if (!layout.equals(EventsTable.LAYOUT)) {
            throw new IllegalArgumentException("its layout is '" + layout + "', which this version does not know");
        }
        if (groups.stream().flatMap(group -> group.chunks().stream()).anyMatch(ColumnChunk::indexed)) {
            throw new IllegalArgumentException("a column chunk has a page index");
        }
    }

    private static List<LeafColumn> columns(CompactThrift in, byte[] array) {
        int from = in.position();
        List<LeafColumn> columns = new SchemaParser(in).parse();
        // What a newer version added is for whoever asks for the columns to refuse, by name.
        List<String> names = columns.stream().map(LeafColumn::name).toList();
        byte[] octets = Arrays.copyOfRange(array, from, in.position());
        if (names.stream().allMatch(FooterSchema::knows)
                && !Arrays.equals(FooterSchema.of(names), octets)
                && !Arrays.equals(FooterSchema.ofOptional(names), octets)) {
            throw new IllegalArgumentException("its schema is not the events table's, octet for octet");
        }
        return columns;
    }

    /// The order of the columns' bounds: that of their types.
    private static void orders(CompactThrift in, int columns) {
        int size = in.structs();
        if (size != columns) {
            throw new IllegalArgumentException("there are " + size + " column orders for " + columns + " columns");
        }
        for (int i = 0; i < size; i++) {
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                if (id != 1) {
                    throw in.unknown("a column order", id);
                }
                in.skip();
            }
        }
    }

    private static Map<String, String> notes(CompactThrift in) {
        int size = in.structs();
        if (size > NOTES_MAX) {
            throw new IllegalArgumentException("there are more than " + NOTES_MAX + " notes");
        }
        var notes = new HashMap<String, String>();
        for (int i = 0; i < size; i++) {
            String key = "";
            String value = "";
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                switch (id) {
                    case 1 -> key = in.string();
                    case 2 -> value = in.string();
                    default -> throw in.unknown("a note", id);
                }
            }
            if (!key.startsWith(OURS)) {
                throw new IllegalArgumentException(
                        "the footer has a note '" + key + "', which Blackbox does not write");
            }
            if (notes.put(key, value) != null) {
                throw new IllegalArgumentException("there are two notes " + key);
            }
        }
        return notes;
    }

    private static List<RowGroup> rowGroups(CompactThrift in, List<LeafColumn> columns) {
        int size = in.structs();
        if (size > GROUPS_MAX) {
            throw new IllegalArgumentException("there are more than " + GROUPS_MAX + " row groups");
        }
        var groups = new ArrayList<RowGroup>();
        for (int i = 0; i < size; i++) {
            groups.add(rowGroup(in, columns));
        }
        return groups;
    }

    private static RowGroup rowGroup(CompactThrift in, List<LeafColumn> columns) {
        var chunks = new ArrayList<ColumnChunk>();
        long rows = -1;
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1 -> {
                    int size = in.structs();
                    if (size != columns.size()) {
                        throw new IllegalArgumentException(
                                "a row group has " + size + " chunks for " + columns.size() + " columns");
                    }
                    for (LeafColumn column : columns) {
                        chunks.add(chunk(in, column));
                    }
                }
                case 3 -> rows = in.int64();
                case 2, 5, 6, 7 -> in.skip(); // sizes, where it begins, its number
                default -> throw in.unknown("a row group", id);
            }
        }
        if (chunks.isEmpty() && !columns.isEmpty()) {
            throw new IllegalArgumentException("a row group has no chunks");
        }
        return new RowGroup(rows, chunks);
    }

    private static ColumnChunk chunk(CompactThrift in, LeafColumn column) {
        ColumnChunk chunk = null;
        boolean indexed = false;
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1 -> throw new IllegalArgumentException("a column chunk points to another file");
                case 3 -> chunk = columnMetaData(in, column);
                case 2 -> in.skip(); // where its metadata is
                case 4, 5, 6, 7 -> {
                    indexed = true;
                    in.skip();
                }
                default -> throw in.unknown("a column chunk", id);
            }
        }
        if (chunk == null) {
            throw new IllegalArgumentException("a column chunk has no metadata");
        }
        return indexed ? chunk.withIndex() : chunk;
    }

    private static ColumnChunk columnMetaData(CompactThrift in, LeafColumn column) {
        in.struct();
        int type = -1;
        List<String> path = List.of();
        List<Integer> encodings = List.of();
        Map<PageEncodings.Page, Integer> pages = null;
        int codec = -1;
        long values = -1;
        long length = -1;
        long dataPage = -1;
        long dictionaryPage = 0;
        ChunkStatistics statistics = ChunkStatistics.NONE;
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1 -> type = in.int32();
                case 2 -> encodings = in.int32s();
                case 3 -> path = in.strings();
                case 4 -> codec = in.int32();
                case 6 -> in.int64(); // its length before compression
                case 5 -> values = in.int64();
                case 7 -> length = in.int64();
                case 9 -> dataPage = in.int64();
                case 11 -> dictionaryPage = in.int64();
                case 12 -> statistics = ChunkStatistics.parse(in);
                case 13 -> pages = PageEncodings.parse(in);
                // Engines skip row groups by it, and we write none: it could only hide rows.
                case 14, 15 -> throw new IllegalArgumentException("a column chunk has a Bloom filter");
                default -> throw in.unknown("a column chunk's metadata", id);
            }
        }
        if (type != column.type().code() || !path.equals(column.path())) {
            throw new IllegalArgumentException("a column chunk is not that of column " + column.name());
        }
        long start = dictionaryPage > 0 && dictionaryPage < dataPage ? dictionaryPage : dataPage;
        return new ColumnChunk(
                codec, values, start, length, statistics, new PageEncodings(Set.copyOf(encodings), pages), false);
    }

    /// Flattens the schema's depth-first list of elements into leaf columns.
    private static final class SchemaParser {

        private record Element(String name, int type, int repetition, int children, int fieldId) {}

        private final List<Element> elements = new ArrayList<>();
        private final List<LeafColumn> leaves = new ArrayList<>();
        private int next;

        SchemaParser(CompactThrift in) {
            int size = in.structs();
            if (size > 4 * COLUMNS_MAX) {
                throw new IllegalArgumentException("the schema has more than " + COLUMNS_MAX + " columns");
            }
            for (int i = 0; i < size; i++) {
                elements.add(element(in));
            }
        }

        private static Element element(CompactThrift in) {
            int type = -1;
            int repetition = 0;
            int children = 0;
            int fieldId = 0;
            String name = "";
            for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
                switch (id) {
                    case 1 -> type = in.int32();
                    case 3 -> repetition = in.int32();
                    case 4 -> name = in.string();
                    case 5 -> children = in.int32();
                    case 9 -> fieldId = in.int32();
                    default -> in.skip();
                }
            }
            return new Element(name, type, repetition, children, fieldId);
        }

        List<LeafColumn> parse() {
            Element root = elements.get(next++);
            for (int i = 0; i < root.children; i++) {
                node(elements.get(next), 0, 0, 0);
            }
            if (next != elements.size()) {
                throw new IllegalArgumentException("the schema's elements do not add up");
            }
            return leaves;
        }

        private void node(Element top, int definition, int repetition, int depth) {
            Element element = elements.get(next++);
            int d = definition + (element.repetition == 0 ? 0 : 1);
            int r = repetition + (element.repetition == 2 ? 1 : 0);
            if (element.children == 0) {
                leaves.add(new LeafColumn(top.name, top.fieldId, PhysicalType.of(element.type), d, r));
                return;
            }
            if (element.children != 1 || depth >= 2) {
                throw new IllegalArgumentException("column " + top.name + " is nested too deep");
            }
            node(top, d, r, depth + 1);
        }
    }
}
