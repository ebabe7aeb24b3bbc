package blackbox.recorder.spool;

import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Says that a run's recorder is alive: an exclusive lock on `<runs>/<run>/lock`, which the kernel lets go of when the
/// process ends, however it ends.
public final class RunLock implements AutoCloseable {

    private final FileChannel channel;

    private RunLock(FileChannel channel) {
        this.channel = channel;
    }

    /// Takes the lock of a new run.
    public static RunLock take(Path runs, RunId run) throws RecorderException {
        try {
            Path folder = Files.createDirectories(runs.resolve(run.value()));
            FileChannel channel =
                    FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                throw new RecorderException(
                        RecorderException.Code.SPOOL, "run " + run + " has a live recorder already");
            }
            return new RunLock(channel);
        } catch (IOException e) {
            throw new RecorderException(RecorderException.Code.SPOOL, "cannot lock run " + run + " in " + runs, e);
        }
    }

    /// Whether some process holds the run's lock.
    public static boolean isHeld(Path runs, RunId run) {
        Path file = runs.resolve(run.value()).resolve("lock");
        if (!Files.exists(file)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                return true;
            }
            lock.release();
            return false;
        } catch (OverlappingFileLockException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws RecorderException {
        try {
            channel.close();
        } catch (IOException e) {
            throw new RecorderException(RecorderException.Code.SPOOL, "cannot let go of a run's lock", e);
        }
    }
}
