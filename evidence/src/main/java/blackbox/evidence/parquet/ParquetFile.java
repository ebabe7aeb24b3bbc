package blackbox.evidence.parquet;

import blackbox.evidence.storage.StoredFile;
import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/// One open Parquet file: its footer, and access to its column chunks' octets. Closed by whoever opened it.
final class ParquetFile implements AutoCloseable {

    private static final int MAGIC = 0x31524150; // "PAR1", little-endian
    private static final int FOOTER_BYTES_MAX = 64 << 20;
    private static final int TAIL = 8;
    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final StoredFile file;
    private final ParquetFooter footer;
    private final ReadMemory memory = new ReadMemory();

    private ParquetFile(StoredFile file, ParquetFooter footer) {
        this.file = file;
        this.footer = footer;
    }

    /// Reads the footer of a file, which is closed together with this object, or at once if this fails.
    ///
    /// @throws MalformedParquetException when it is not a Parquet file of the kind that we write
    static ParquetFile open(StoredFile file) throws IOException {
        try {
            return new ParquetFile(file, readFooter(file));
        } catch (IllegalArgumentException | IndexOutOfBoundsException | ArithmeticException | EOFException e) {
            file.close();
            throw new MalformedParquetException("its footer is malformed: " + e.getMessage(), e);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private static ParquetFooter readFooter(StoredFile file) throws IOException {
        long size = file.size();
        if (size < 4 + TAIL) {
            throw new MalformedParquetException("it is too short to be a Parquet file");
        }
        byte[] head = read(file, 0, 4);
        byte[] tail = read(file, size - TAIL, TAIL);
        int length = (int) INT32.get(tail, 0);
        if ((int) INT32.get(head, 0) != MAGIC || (int) INT32.get(tail, 4) != MAGIC) {
            throw new MalformedParquetException("it does not start and end as a Parquet file");
        }
        if (length <= 0 || length > FOOTER_BYTES_MAX || length > size - 4 - TAIL) {
            throw new MalformedParquetException("its footer's length is out of range");
        }
        return ParquetFooter.parse(read(file, size - TAIL - length, length), 0, length);
    }

    /// What its columns' readers take together.
    ReadMemory memory() {
        return memory;
    }

    List<LeafColumn> columns() {
        return footer.columns();
    }

    /// Blackbox's note in the footer under that key; empty if there is none.
    String note(String key) {
        return footer.notes().getOrDefault(key, "");
    }

    long rows() {
        return footer.rows();
    }

    List<RowGroup> rowGroups() {
        return footer.rowGroups();
    }

    /// Reads the octets of a chunk into the front of `target`.
    void read(ColumnChunk chunk, byte[] target) throws IOException {
        if (chunk.length() > file.size() - chunk.offset()) {
            throw new MalformedParquetException("a column chunk goes beyond the file's end");
        }
        file.read(chunk.offset(), ByteBuffer.wrap(target, 0, (int) chunk.length()));
    }

    private static byte[] read(StoredFile file, long position, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        file.read(position, buffer);
        return buffer.array();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
