package blackbox.vm;

import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/// Only one holder at a time among all threads of all processes that use a folder. Taken and closed by the same thread;
/// the system gives it up when its process dies.
public final class FolderLock implements AutoCloseable {
    private static final Map<Path, ReentrantLock> WITHIN_PROCESS = new ConcurrentHashMap<>();

    private final FileChannel file;
    private final ReentrantLock within;

    private FolderLock(FileChannel file, ReentrantLock within) {
        this.file = file;
        this.within = within;
    }

    /// Waits for the lock of `folder`, which is made when it is missing.
    public static FolderLock take(Path folder) throws VmException {
        ReentrantLock within =
                WITHIN_PROCESS.computeIfAbsent(folder.toAbsolutePath().normalize(), path -> new ReentrantLock());
        within.lock();
        try {
            Files.createDirectories(folder);
            var file = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            file.lock();
            return new FolderLock(file, within);
        } catch (IOException e) {
            within.unlock();
            throw new VmException(Code.IO, folder + " could not be locked", e);
        }
    }

    @Override
    public void close() throws VmException {
        try {
            file.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "a lock could not be given up", e);
        } finally {
            within.unlock();
        }
    }
}
