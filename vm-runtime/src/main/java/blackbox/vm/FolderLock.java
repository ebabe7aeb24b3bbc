package blackbox.vm;

import blackbox.files.ProcessLock;
import blackbox.schemas.Progress;
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
    ///
    /// @param progress is told if another process has it
    public static FolderLock take(Path folder, Progress progress) throws VmException {
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve(DataFolder.LOCK);
            ProcessLock lock = ProcessLock.tryTake(file);
            if (lock == null) {
                progress.say("waiting for another process, which is preparing something in " + folder);
                lock = ProcessLock.take(file);
            }
            return new FolderLock(lock);
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
