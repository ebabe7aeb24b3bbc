package blackbox.recorder.capture;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A stream that is stored in a file while it is read: frames, as pcap, or what the agent is given. Storing stops at
/// its limit or when the file cannot be written; reading continues. Owned by the thread that reads; the accessors and
/// [#close] may be called from others.
public final class KeptStream extends FilterInputStream {

    private static final int SKIP_BYTES_MAX = 4_096;

    private final Path path;
    private @Nullable FileChannel file;
    private long left;
    private boolean closed;
    private volatile long octets;
    private volatile boolean ended;
    private volatile @Nullable IOException failure;

    /// @param path a new file, created with the first octets; readable by this user alone
    KeptStream(InputStream in, Path path, long bytesMax) {
        super(in);
        this.path = path;
        this.left = bytesMax;
    }

    /// What ended the keeping, or null.
    public @Nullable IOException failure() {
        return failure;
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
        if (count > 0 && left > 0 && failure == null) {
            write(ByteBuffer.wrap(read, offset, (int) Math.min(count, left)));
        }
    }

    private void write(ByteBuffer octets) {
        left -= octets.remaining();
        try {
            FileChannel to = file == null ? open() : file;
            file = to;
            while (octets.hasRemaining()) {
                to.write(octets);
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    private FileChannel open() throws IOException {
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        return FileChannel.open(path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode);
    }

    /// Ends the keeping; what is read from now on counts no more. The stream itself is its owner's.
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        FileChannel open = file;
        if (open != null) {
            open.close();
        }
    }
}
