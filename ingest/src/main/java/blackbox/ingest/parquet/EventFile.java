package blackbox.ingest.parquet;

import blackbox.ingest.parquet.WrittenFile.ColumnSize;
import blackbox.schemas.row.Column;
import blackbox.schemas.table.EventsTable;
import blackbox.schemas.table.StoredNames;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;

/// One data file being written: consecutive row groups of one run. Nothing of it counts before [#finish]
/// returned.
public final class EventFile implements Closeable {

    private static final int STATISTICS_BYTES_MAX = 64;

    /// Seals cover every octet, so pages need no checksum of their own; sizes of levels are not worth their
    /// space.
    private static final ParquetProperties PROPERTIES = ParquetProperties.builder()
            .withPageWriteChecksumEnabled(false)
            .withSizeStatisticsEnabled(false)
            .withStatisticsTruncateLength(STATISTICS_BYTES_MAX)
            .build();

    private static final Map<String, String> NOTES = notes();

    private final DigestingOutput output;
    private final ParquetFileWriter writer;
    private final ChunkSink sink;
    private final ChunkScratch scratch;
    private long firstIndex = -1;
    private long endIndex;

    /// Creates the file at `path`, which must not exist. `seed` as for [RowGroup].
    public EventFile(Path path, long seed) throws IOException {
        output = new DigestingOutput(path);
        writer = new ParquetFileWriter(
                output, EventSchema.MESSAGE, ParquetFileWriter.Mode.CREATE, Long.MAX_VALUE, 0, null, PROPERTIES);
        sink = new ChunkSink(writer);
        scratch = new ChunkScratch(seed);
        writer.start();
    }

    /// What the footer notes: the table's version, the layout of the file, and the names that were added to
    /// those of the first version.
    private static Map<String, String> notes() {
        var notes = new TreeMap<String, String>();
        notes.put("blackbox.version", Integer.toString(EventsTable.VERSION));
        notes.put(EventsTable.LAYOUT_KEY, EventsTable.LAYOUT);
        for (Column column : List.of(Column.KIND, Column.SOURCE)) {
            String added = StoredNames.ofThisVersion(column).text();
            if (!added.isEmpty()) {
                notes.put(StoredNames.key(column), added);
            }
        }
        return notes;
    }

    /// Encodes the group's rows, which follow those before.
    public void write(RowGroup group) throws IOException {
        if (firstIndex < 0) {
            firstIndex = group.firstIndex();
        } else if (group.firstIndex() != endIndex) {
            throw new IllegalStateException("row " + group.firstIndex() + " does not follow row " + (endIndex - 1));
        }
        writer.startBlock(group.rows());
        for (ColumnChunk chunk : group.chunks()) {
            chunk.write(scratch, sink, group.rows());
        }
        writer.endBlock();
        endIndex = group.endIndex();
    }

    /// Writes the footer and forces the file to the disk.
    ///
    /// @param state how far the run is with the file's last row, or an empty text
    public WrittenFile finish(String state) throws IOException {
        output.pause();
        var notes = new TreeMap<>(NOTES);
        if (!state.isEmpty()) {
            notes.put(EventsTable.STATE_KEY, state);
        }
        writer.end(notes);
        output.resume();
        writeFooter(writer.getFooter());
        var sha256 = output.sha256();
        output.force();
        List<BlockMetaData> groups = writer.getFooter().getBlocks();
        var offsets = groups.stream().map(BlockMetaData::getStartingPos).toList();
        return new WrittenFile(firstIndex, endIndex, output.getPos(), sha256, offsets, sizes(groups));
    }

    /// The writer cannot be told to leave out page indexes: what it writes behind the pages is dropped, and the
    /// footer is written again without them.
    private void writeFooter(ParquetMetadata footer) throws IOException {
        for (BlockMetaData group : footer.getBlocks()) {
            for (ColumnChunkMetaData chunk : group.getColumns()) {
                chunk.setColumnIndexReference(null);
                chunk.setOffsetIndexReference(null);
            }
        }
        long from = output.getPos();
        var converter = new ParquetMetadataConverter(STATISTICS_BYTES_MAX);
        Util.writeFileMetaData(converter.toParquetMetadata(ParquetFileWriter.CURRENT_VERSION, footer), output);
        BytesUtils.writeIntLittleEndian(output, Math.toIntExact(output.getPos() - from));
        output.write(ParquetFileWriter.MAGIC);
    }

    private static List<ColumnSize> sizes(List<BlockMetaData> groups) {
        var sizes = new ArrayList<ColumnSize>();
        for (int i = 0; i < groups.getFirst().getColumns().size(); i++) {
            long bytes = 0;
            long values = 0;
            long nulls = 0;
            for (BlockMetaData group : groups) {
                ColumnChunkMetaData chunk = group.getColumns().get(i);
                bytes += chunk.getTotalSize();
                values += chunk.getValueCount();
                nulls += Math.max(0, chunk.getStatistics().getNumNulls());
            }
            int fieldId = groups.getFirst()
                    .getColumns()
                    .get(i)
                    .getPrimitiveType()
                    .getId()
                    .intValue();
            sizes.add(new ColumnSize(fieldId, bytes, values, nulls));
        }
        return sizes;
    }

    @Override
    public void close() throws IOException {
        sink.close();
        output.release();
    }
}
