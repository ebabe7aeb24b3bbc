package blackbox.recorder.keys;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/// Keeps two processes, and two threads of one, from making or changing the keys of a folder at the same
/// time.
final class KeysLock implements AutoCloseable {

    /// A file lock belongs to the process; this keeps its threads apart.
    private static final ReentrantLock THREADS = new ReentrantLock();

    private final FileChannel channel;
    private final FileLock held;

    private KeysLock(FileChannel channel, FileLock held) {
        this.channel = channel;
        this.held = held;
    }

    /// Waits for the folder's lock; makes the folder where it is not there.
    static KeysLock of(Path folder) throws IOException {
        Files.createDirectories(folder);
        THREADS.lock();
        try {
            FileChannel channel =
                    FileChannel.open(folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            return new KeysLock(channel, channel.lock());
        } catch (IOException | RuntimeException e) {
            THREADS.unlock();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            held.release();
        } finally {
            THREADS.unlock();
        }
    }
}
