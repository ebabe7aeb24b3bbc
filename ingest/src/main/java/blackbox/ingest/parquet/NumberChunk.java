package blackbox.ingest.parquet;

import blackbox.schemas.table.TableColumn;
import blackbox.schemas.table.TableType;
import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.IntStatistics;
import org.apache.parquet.column.statistics.LongStatistics;
import org.apache.parquet.column.statistics.Statistics;

/// A column of numbers: a dictionary where few are distinct, else the numbers as they are.
final class NumberChunk extends ColumnChunk {

    /// A dictionary may have one entry for so many values.
    private static final int VALUES_PER_ENTRY_MIN = 4;

    private final boolean narrow;
    private long[] values = new long[64];

    NumberChunk(TableColumn column) {
        super(column);
        narrow = column.type() == TableType.INT;
    }

    void append(int row, long value) {
        if (present == values.length) {
            values = Arrays.copyOf(values, present * 2);
        }
        values[present++] = value;
        presence.set(row);
    }

    @Override
    void writeValues(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException {
        boolean dictionary = toDictionary(scratch);
        sink.begin(descriptor, rows);
        if (dictionary) {
            writeDictionary(scratch, sink);
        }
        int at = 0;
        for (int from = 0; from < rows; from += PAGE_ROWS) {
            int to = Math.min(from + PAGE_ROWS, rows);
            int count = presence.count(from, to);
            putLevels(scratch, from, to);
            if (dictionary) {
                scratch.putIds(scratch.ids, at, at + count, scratch.numbers.count());
            } else {
                putPlain(scratch.data.clear(), at, at + count);
            }
            sink.page(
                    new PageShape(to - from, to - from - count, to - from),
                    scratch.repetition,
                    scratch.definition,
                    scratch.data,
                    dictionary ? Encoding.RLE_DICTIONARY : Encoding.PLAIN,
                    statistics(to - from - count, at, at + count));
            at += count;
        }
    }

    /// Gives every value its id; false where a dictionary does not pay.
    private boolean toDictionary(ChunkScratch scratch) {
        LongDictionary dictionary = scratch.numbers;
        dictionary.clear();
        int[] ids = scratch.ids(present);
        int entriesMax = Math.max(8, present / VALUES_PER_ENTRY_MIN);
        for (int i = 0; i < present; i++) {
            ids[i] = dictionary.idOf(values[i]);
            if (ids[i] < 0 || dictionary.count() > entriesMax) {
                return false;
            }
        }
        return true;
    }

    private void writeDictionary(ChunkScratch scratch, ChunkSink sink) throws IOException {
        Octets plain = scratch.data.clear();
        for (int id = 0; id < scratch.numbers.count(); id++) {
            plain.putLittleEndian(scratch.numbers.value(id), narrow ? Integer.BYTES : Long.BYTES);
        }
        sink.dictionary(plain, scratch.numbers.count());
    }

    private void putPlain(Octets target, int from, int to) {
        int width = narrow ? Integer.BYTES : Long.BYTES;
        for (int i = from; i < to; i++) {
            target.putLittleEndian(values[i], width);
        }
    }

    private Statistics<?> statistics(int nulls, int from, int to) {
        Statistics<?> statistics = statistics(nulls);
        if (from < to) {
            long min = values[from];
            long max = min;
            for (int i = from + 1; i < to; i++) {
                min = Math.min(min, values[i]);
                max = Math.max(max, values[i]);
            }
            switch (statistics) {
                case IntStatistics ints -> ints.setMinMax((int) min, (int) max);
                case LongStatistics longs -> longs.setMinMax(min, max);
                default -> throw new IllegalStateException(descriptor + " is no column of numbers");
            }
        }
        return statistics;
    }
}
