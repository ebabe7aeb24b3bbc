package blackbox.vm;

import blackbox.files.ProcessLock;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A [ProcessLock] on a folder's file `lock`: who builds or unpacks there does it alone.
public final class FolderLock implements AutoCloseable {
    private final ProcessLock lock;

    private FolderLock(ProcessLock lock) {
        this.lock = lock;
    }

    /// Waits for the lock of `folder`, which is made when it is missing.
    public static FolderLock take(Path folder) throws VmException {
        try {
            Files.createDirectories(folder);
            return new FolderLock(ProcessLock.take(folder.resolve("lock")));
        } catch (IOException e) {
            throw new VmException(Code.IO, folder + " could not be locked", e);
        }
    }

    @Override
    public void close() throws VmException {
        try {
            lock.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "a lock could not be given up", e);
        }
    }
}
