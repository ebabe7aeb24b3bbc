package blackbox.ingest.parquet;

import blackbox.schemas.table.TableColumn;
import java.io.IOException;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.Type;

/// One column's values in a row group, gathered row by row and encoded at once when the group is written.
abstract sealed class ColumnChunk permits NumberChunk, OctetsChunk, ListChunk {

    /// Rows in a page; a multiple of 8. A column without any value has one page for the whole group.
    static final int PAGE_ROWS = 1 << 15;

    final ColumnDescriptor descriptor;
    final Presence presence = new Presence();

    /// How many rows have a value.
    int present;

    ColumnChunk(TableColumn column) {
        descriptor = EventSchema.descriptor(column);
    }

    void clear() {
        if (present > 0) {
            presence.clear();
            present = 0;
        }
    }

    /// Encodes the group's first `rows` rows.
    final void write(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException {
        if (present == 0) {
            writeEmpty(scratch, sink, rows);
        } else {
            writeValues(scratch, sink, rows);
        }
        sink.end();
    }

    abstract void writeValues(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException;

    private void writeEmpty(ChunkScratch scratch, ChunkSink sink, int rows) throws IOException {
        scratch.repetition.clear();
        if (descriptor.getMaxRepetitionLevel() > 0) {
            scratch.repetition.putVarint(rows << 1).put(0);
        }
        scratch.definition.clear().putVarint(rows << 1).put(0);
        sink.begin(descriptor, rows);
        sink.page(
                new PageShape(rows, rows, rows),
                scratch.repetition,
                scratch.definition,
                scratch.data.clear(),
                Encoding.PLAIN,
                statistics(rows));
    }

    /// The definition levels of a column that is no list.
    final void putLevels(ChunkScratch scratch, int from, int to) {
        scratch.repetition.clear();
        scratch.definition.clear();
        if (descriptor.getPrimitiveType().isRepetition(Type.Repetition.OPTIONAL)) {
            presence.putLevels(scratch.definition, from, to);
        }
    }

    final Statistics<?> statistics(int nulls) {
        Statistics<?> statistics = Statistics.createStats(descriptor.getPrimitiveType());
        statistics.incrementNumNulls(nulls);
        return statistics;
    }
}
