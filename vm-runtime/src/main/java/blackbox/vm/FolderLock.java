package blackbox.vm;

import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A [ProcessLock] on a folder's file `lock`, so that only one process at a time builds or unpacks there.
public final class FolderLock implements AutoCloseable {
    private final ProcessLock lock;

    private FolderLock(ProcessLock lock) {
        this.lock = lock;
    }

    /// Waits for the lock of `folder`, which is created if it is missing.
    public static FolderLock take(Path folder) throws VmException {
        try {
            Files.createDirectories(folder);
            return new FolderLock(ProcessLock.take(folder.resolve(DataFolder.LOCK)));
        } catch (IOException e) {
            throw new VmException(Code.IO, folder + " could not be locked", e);
        }
    }

    @Override
    public void close() throws VmException {
        try {
            lock.close();
        } catch (IOException e) {
            throw new VmException(Code.IO, "a lock could not be released", e);
        }
    }
}
