package blackbox.node.record;

import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The right to run the pipeline of a data folder: a lock on `pipeline.lock` that ends with the process. The
/// file contains the address of the holder's broker, so that others can publish there.
public final class PipelineLock implements AutoCloseable {

    private static final int ADDRESS_BYTES_MAX = 4_096;

    private final ProcessLock lock;

    private PipelineLock(ProcessLock lock) {
        this.lock = lock;
    }

    /// Takes the lock; null when another process, or another pipeline of this process, has it.
    public static @Nullable PipelineLock tryTake(DataFolder data) throws IOException {
        Files.createDirectories(data.root());
        ProcessLock lock = ProcessLock.tryTake(data.pipelineLock());
        if (lock == null) {
            return null;
        }
        lock.channel().truncate(0);
        return new PipelineLock(lock);
    }

    /// Writes down where the broker listens.
    void announce(String bootstrapServers) throws IOException {
        lock.channel().truncate(0);
        lock.channel().write(ByteBuffer.wrap((bootstrapServers + "\n").getBytes(StandardCharsets.UTF_8)), 0);
    }

    /// Where the holder's broker listens; null if the holder has not written it down yet.
    public static @Nullable String announced(DataFolder data) throws IOException {
        Path file = data.pipelineLock();
        if (!Files.exists(file) || Files.size(file) > ADDRESS_BYTES_MAX) {
            return null;
        }
        String text = Files.readString(file);
        return text.endsWith("\n") ? text.strip() : null;
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
