package blackbox.recorder.capture;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A stream that is stored in a file while it is read: frames, as pcap, or what the agent is given. Storing stops at
/// its limit or when the file cannot be written; reading continues. Owned by the thread that reads; the accessors and
/// [#close] may be called from others.
public final class KeptStream extends FilterInputStream {

    private static final int SKIP_BYTES_MAX = 4_096;

    private final KeptFile file;
    private long left;
    private boolean closed;
    private volatile long octets;
    private volatile boolean ended;

    /// @param path a new file, created with the first octets; readable by this user alone
    KeptStream(InputStream in, Path path, long bytesMax) {
        super(in);
        this.file = new KeptFile(path);
        this.left = bytesMax;
    }

    /// What ended the keeping, or null.
    public @Nullable IOException failure() {
        return file.failure();
    }

    /// How many octets were read so far.
    public long octets() {
        return octets;
    }

    /// Whether the stream has ended.
    public boolean ended() {
        return ended;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int count = super.read(into, offset, length);
        keep(into, offset, count);
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        // What is skipped is kept, too.
        return Math.max(0, read(new byte[(int) Math.min(count, SKIP_BYTES_MAX)]));
    }

    private synchronized void keep(byte[] read, int offset, int count) {
        if (closed) {
            return;
        }
        ended |= count < 0;
        octets += Math.max(0, count);
        if (count > 0 && left > 0 && file.failure() == null) {
            int kept = (int) Math.min(count, left);
            left -= kept;
            file.write(ByteBuffer.wrap(read, offset, kept));
        }
    }

    /// Ends the keeping; what is read from now on counts no more. The stream itself is its owner's.
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        file.close();
    }
}
