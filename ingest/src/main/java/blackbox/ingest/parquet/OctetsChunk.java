package blackbox.ingest.parquet;

import blackbox.schemas.table.TableColumn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.parquet.column.statistics.Statistics;

/// A column of strings or octets: a dictionary where values repeat, else lengths and octets.
final class OctetsChunk extends ColumnChunk {

    /// A dictionary may have one entry for so many values.
    private static final int VALUES_PER_ENTRY_MIN = 2;

    private final OctetsDictionary distinct;
    private int[] ids = new int[64];

    OctetsChunk(TableColumn column, long seed) {
        super(column);
        distinct = new OctetsDictionary(seed);
    }

    void append(int row, byte[] array, int offset, int length) {
        appendId(row, distinct.idOf(array, offset, length));
    }

    void append(int row, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        append(row, utf8, 0, utf8.length);
    }

    private void appendId(int row, int id) {
        if (present == ids.length) {
            ids = Arrays.copyOf(ids, present * 2);
        }
        ids[present++] = id;
        presence.set(row);
    }

    @Override
    void clear() {
        super.clear();
        distinct.clear();
    }

    @Override
    void writeValues(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException {
        sink.begin(descriptor, rows);
        boolean dictionary = StringPages.begin(distinct, present, scratch, sink, VALUES_PER_ENTRY_MIN);
        int at = 0;
        for (int from = 0; from < rows; from += PAGE_ROWS) {
            int to = Math.min(from + PAGE_ROWS, rows);
            int count = presence.count(from, to);
            putLevels(scratch, from, to);
            StringPages.put(distinct, dictionary, ids, at, at + count, scratch);
            int nulls = to - from - count;
            Statistics<?> statistics = count == 0
                    ? statistics(nulls)
                    : StringPages.bounded(distinct, descriptor.getPrimitiveType(), nulls);
            sink.page(
                    new PageShape(to - from, nulls, to - from),
                    scratch.repetition,
                    scratch.definition,
                    scratch.data,
                    StringPages.encoding(dictionary),
                    statistics);
            at += count;
        }
    }
}
