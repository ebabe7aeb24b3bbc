package blackbox.node.record;

import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The right to run the pipeline of a data folder: a lock that ends with the process. Beside it, in a file that only
/// this user may read, is how the holder's broker is reached, so that the user's other processes can publish there.
public final class PipelineLock implements AutoCloseable {

    private static final int ACCESS_BYTES_MAX = 4_096;
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private final DataFolder data;
    private final ProcessLock lock;
    private final AtomicBoolean closed = new AtomicBoolean();

    private PipelineLock(DataFolder data, ProcessLock lock) {
        this.data = data;
        this.lock = lock;
    }

    /// Takes the lock; null when another process, or another pipeline of this process, has it.
    public static @Nullable PipelineLock tryTake(DataFolder data) throws IOException {
        Files.createDirectories(data.root());
        ProcessLock lock = ProcessLock.tryTake(data.pipelineLock());
        if (lock == null) {
            return null;
        }
        try {
            Files.deleteIfExists(data.pipelineAccess()); // the last holder's, if it was killed
        } catch (IOException e) {
            lock.close();
            throw e;
        }
        return new PipelineLock(data, lock);
    }

    /// Writes down how the broker is reached, in a new file: whoever was able to read an old one cannot read this.
    ///
    /// @param clients the settings of Kafka's clients
    void announce(Properties clients) throws IOException {
        var text = new ByteArrayOutputStream();
        clients.store(text, null);
        AtomicFiles.onDisk().replace(data.pipelineAccess(), text.toByteArray(), OWNER_ONLY);
    }

    /// How the holder's broker is reached; null if the holder has not written it down yet.
    public static @Nullable Properties announced(DataFolder data) throws IOException {
        byte[] octets = AtomicFiles.onDisk().read(data.pipelineAccess(), ACCESS_BYTES_MAX);
        if (octets == null) {
            return null;
        }
        var clients = new Properties();
        clients.load(new StringReader(new String(octets, StandardCharsets.ISO_8859_1)));
        return clients;
    }

    @Override
    public void close() throws IOException {
        if (!closed.getAndSet(true)) { // from then on the file is the next holder's
            try (lock) {
                Files.deleteIfExists(data.pipelineAccess());
            }
        }
    }
}
