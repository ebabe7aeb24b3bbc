package blackbox.ingest.parquet;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.ListCursor;
import blackbox.schemas.row.Row;
import blackbox.schemas.table.TableColumn;
import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridEncoder;

/// A column of lists of strings, as Parquet's three-level LIST: definition level 0 no list, 1 an empty list, 2
/// an element.
final class ListChunk extends ColumnChunk {

    private static final int VALUES_PER_ENTRY_MIN = 2;
    private static final int EMPTY = 1;
    private static final int ELEMENT = 2;

    private final OctetsDictionary distinct;

    /// How many elements each list has, and the elements' ids one after the other.
    private int[] counts = new int[16];

    private int[] ids = new int[64];
    private int elements;
    private int emptyLists;

    ListChunk(TableColumn column, long seed) {
        super(column);
        distinct = new OctetsDictionary(seed);
    }

    /// Appends the row's list; false where an element is not UTF-8.
    boolean append(int rowNumber, Row row, Column column) {
        boolean wellFormed = true;
        int before = elements;
        var cursor = new ListCursor(row, column);
        while (cursor.next()) {
            if (Utf8.isWellFormed(cursor.array(), cursor.offset(), cursor.length())) {
                appendElement(cursor.array(), cursor.offset(), cursor.length());
            } else {
                wellFormed = false;
                byte[] replaced = Utf8.replaced(cursor.array(), cursor.offset(), cursor.length());
                appendElement(replaced, 0, replaced.length);
            }
        }
        if (present == counts.length) {
            counts = Arrays.copyOf(counts, present * 2);
        }
        counts[present++] = elements - before;
        emptyLists += elements == before ? 1 : 0;
        presence.set(rowNumber);
        return wellFormed;
    }

    /// How many elements its lists have together.
    int elements() {
        return elements;
    }

    private void appendElement(byte[] array, int offset, int length) {
        if (elements == ids.length) {
            ids = Arrays.copyOf(ids, elements * 2);
        }
        ids[elements++] = distinct.idOf(array, offset, length);
    }

    @Override
    void clear() {
        super.clear();
        distinct.clear();
        elements = 0;
        emptyLists = 0;
    }

    @Override
    void writeValues(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException {
        sink.begin(descriptor, (long) rows - present + emptyLists + elements);
        boolean dictionary = elements > 0 && StringPages.begin(distinct, elements, scratch, sink, VALUES_PER_ENTRY_MIN);
        int list = 0;
        int at = 0;
        for (int from = 0; from < rows; from += PAGE_ROWS) {
            int to = Math.min(from + PAGE_ROWS, rows);
            int lists = presence.count(from, to);
            int count = Arrays.stream(counts, list, list + lists).sum();
            int entries = putListLevels(scratch, from, to, list);
            StringPages.put(distinct, dictionary, ids, at, at + count, scratch);
            int nulls = entries - count;
            Statistics<?> statistics = count == 0
                    ? statistics(nulls)
                    : StringPages.bounded(distinct, descriptor.getPrimitiveType(), nulls);
            sink.page(
                    new PageShape(to - from, nulls, entries),
                    scratch.repetition,
                    scratch.definition,
                    scratch.data,
                    StringPages.encoding(dictionary),
                    statistics);
            list += lists;
            at += count;
        }
    }

    /// Writes both levels of rows `[from, to)`, the first list of which is `list`; returns how many entries
    /// there are.
    private int putListLevels(ChunkScratch scratch, int from, int to, int list) throws IOException {
        int entries = 0;
        try (var repetition = ChunkScratch.hybrid(1);
                var definition = ChunkScratch.hybrid(2)) {
            for (int row = from; row < to; row++) {
                boolean there = presence.has(row);
                int count = there ? counts[list++] : 0;
                repetition.writeInt(0);
                definition.writeInt(!there ? 0 : count == 0 ? EMPTY : ELEMENT);
                putFurtherElements(repetition, definition, count);
                entries += Math.max(1, count);
            }
            repetition.toBytes().writeAllTo(scratch.repetition.clear());
            definition.toBytes().writeAllTo(scratch.definition.clear());
        }
        return entries;
    }

    private static void putFurtherElements(
            RunLengthBitPackingHybridEncoder repetition, RunLengthBitPackingHybridEncoder definition, int count)
            throws IOException {
        for (int i = 1; i < count; i++) {
            repetition.writeInt(1);
            definition.writeInt(ELEMENT);
        }
    }
}
