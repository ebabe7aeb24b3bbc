package blackbox.recorder.capture;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A file in which something is kept while it passes: made with its first octets, readable by this user alone. When it
/// cannot be written, it remembers why, and whoever passes the octets on goes on. Guarded by its owner, except for
/// [#failure].
final class KeptFile implements Closeable {
    private final Path path;
    private @Nullable FileChannel channel;
    private volatile @Nullable IOException failure;

    /// @param path of a new file
    KeptFile(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    /// Whether it was made.
    boolean isOpen() {
        return channel != null;
    }

    /// What ended the keeping, or null. Any thread.
    @Nullable
    IOException failure() {
        return failure;
    }

    void write(ByteBuffer octets) {
        try {
            FileChannel to = channel == null ? open() : channel;
            channel = to;
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

    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        if (open != null) {
            open.close();
        }
    }
}
