package blackbox.ingest.parquet;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.Closeable;
import java.io.IOException;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/// Compresses the pages of one column chunk after another and puts them into the file. Page data that zstd
/// does not make smaller is stored uncompressed, which version 2 pages allow.
final class ChunkSink implements Closeable {

    /// Numbers that are stored as they are need a level that looks further than the fast ones. See decision 0131.
    private static final int ZSTD_LEVEL = 6;

    /// Not worth a call into zstd.
    private static final int COMPRESSED_FROM_BYTES = 32;

    private final ZstdCompressCtx zstd = new ZstdCompressCtx().setLevel(ZSTD_LEVEL);
    private byte[] compressed = new byte[1 << 16];

    private final ParquetFileWriter file;

    ChunkSink(ParquetFileWriter file) {
        this.file = file;
    }

    void begin(ColumnDescriptor column, long values) throws IOException {
        file.startColumn(column, values, CompressionCodecName.ZSTD);
    }

    void dictionary(Octets plain, int entries) throws IOException {
        int size = compress(plain);
        file.writeDictionaryPage(
                new DictionaryPage(BytesInput.from(compressed, 0, size), plain.size(), entries, Encoding.PLAIN));
    }

    void page(
            PageShape shape,
            Octets repetition,
            Octets definition,
            Octets data,
            Encoding encoding,
            Statistics<?> statistics)
            throws IOException {
        int size = data.size() < COMPRESSED_FROM_BYTES ? data.size() : compress(data);
        boolean smaller = size < data.size();
        BytesInput body = smaller ? BytesInput.from(compressed, 0, size) : input(data);
        file.writeDataPageV2(
                shape.rows(),
                shape.nulls(),
                shape.values(),
                input(repetition),
                input(definition),
                encoding,
                body,
                smaller,
                data.size(),
                statistics);
    }

    void end() throws IOException {
        file.endColumn();
    }

    private static BytesInput input(Octets octets) {
        return BytesInput.from(octets.array(), 0, octets.size());
    }

    private int compress(Octets plain) {
        int bound = Math.toIntExact(Zstd.compressBound(plain.size()));
        if (compressed.length < bound) {
            compressed = new byte[bound];
        }
        return zstd.compressByteArray(compressed, 0, compressed.length, plain.array(), 0, plain.size());
    }

    @Override
    public void close() {
        zstd.close();
    }
}
