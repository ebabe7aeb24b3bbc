package blackbox.recorder.spool;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// An exclusive lock on a file that ends with the process that holds it, however it ends. Safe to use from several
/// threads.
///
/// Linux drops a process's lock on a file when the process closes any descriptor of it, so within this process a set
/// answers, and a file that is held here is never opened a second time.
public final class ProcessLock implements AutoCloseable {

    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;

    private ProcessLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    /// Takes the lock on `file`, which is made if missing; null when this or another process has it.
    public static @Nullable ProcessLock tryTake(Path file) throws IOException {
        Path place = file.toAbsolutePath().normalize();
        if (!HELD.add(place)) {
            return null;
        }
        FileChannel channel = null;
        boolean taken = false;
        try {
            channel = FileChannel.open(
                    place, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            taken = channel.tryLock() != null;
            return taken ? new ProcessLock(place, channel) : null;
        } finally {
            if (!taken) {
                HELD.remove(place);
                if (channel != null) {
                    channel.close();
                }
            }
        }
    }

    /// Whether this or another process has the lock on `file`.
    public static boolean isHeld(Path file) {
        if (HELD.contains(file.toAbsolutePath().normalize())) {
            return true;
        }
        if (!Files.exists(file)) {
            return false;
        }
        try (ProcessLock lock = tryTake(file)) {
            return lock == null;
        } catch (IOException e) {
            return false;
        }
    }

    /// The locked file, to be written by its holder.
    public FileChannel channel() {
        return channel;
    }

    @Override
    public void close() throws IOException {
        channel.close();
        HELD.remove(file);
    }
}
