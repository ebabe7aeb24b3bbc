package blackbox.ingest.parquet;

import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;

/// A new file that is hashed as it is written, so that the seal covers what was meant to be stored, not what
/// came back from the disk. On the disk when closed.
final class DigestingOutput extends PositionOutputStream implements OutputFile {

    private static final int BUFFER_BYTES = 1 << 18;

    private final Path path;
    private final FileChannel channel;
    private final MessageDigest digest = Sha256.digest();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int buffered;
    private long flushed;
    private boolean paused;
    private boolean closed;

    DigestingOutput(Path path) throws IOException {
        this.path = path;
        this.channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    @Override
    public long getPos() {
        return flushed + buffered;
    }

    /// Drops what is written until [#resume].
    void pause() {
        paused = true;
    }

    void resume() {
        paused = false;
    }

    @Override
    public void write(int octet) throws IOException {
        if (paused) {
            return;
        }
        if (buffered == BUFFER_BYTES) {
            writeBuffer();
        }
        buffer[buffered++] = (byte) octet;
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
        int at = offset;
        int left = paused ? 0 : length;
        while (left > 0) {
            if (buffered == BUFFER_BYTES) {
                writeBuffer();
            }
            int part = Math.min(left, BUFFER_BYTES - buffered);
            System.arraycopy(source, at, buffer, buffered, part);
            buffered += part;
            at += part;
            left -= part;
        }
    }

    private void writeBuffer() throws IOException {
        digest.update(buffer, 0, buffered);
        ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, buffered);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        flushed += buffered;
        buffered = 0;
    }

    /// The hash of the whole file, once, after it is complete and before it is closed.
    Hash sha256() throws IOException {
        writeBuffer();
        return Hash.copyOf(digest.digest(), 0);
    }

    /// Makes what was written survive a power cut.
    void force() throws IOException {
        channel.force(true);
    }

    @Override
    public void flush() {}

    /// Parquet closes its stream before we have its hash, so this does nothing; see [#release].
    @Override
    public void close() {}

    void release() throws IOException {
        if (!closed) {
            closed = true;
            channel.close();
        }
    }

    @Override
    public PositionOutputStream create(long blockSizeHint) {
        return this;
    }

    @Override
    public PositionOutputStream createOrOverwrite(long blockSizeHint) {
        return this;
    }

    @Override
    public boolean supportsBlockSize() {
        return false;
    }

    @Override
    public long defaultBlockSize() {
        return 0;
    }

    @Override
    public String getPath() {
        return path.toString();
    }
}
