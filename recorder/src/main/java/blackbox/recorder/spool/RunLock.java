package blackbox.recorder.spool;

import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;

/// Shows that a run's recorder is alive: a [ProcessLock] on `runs/<run>/lock`.
public final class RunLock implements AutoCloseable {

    private final ProcessLock lock;

    private RunLock(ProcessLock lock) {
        this.lock = lock;
    }

    /// Takes the lock of a new run.
    public static RunLock take(DataFolder data, RunId run) throws RecorderException {
        try {
            Files.createDirectories(data.runs(run));
            ProcessLock lock = ProcessLock.tryTake(data.runLock(run));
            if (lock == null) {
                throw new RecorderException(
                        RecorderException.Code.SPOOL, "run " + run + " already has a live recorder");
            }
            return new RunLock(lock);
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.SPOOL, "cannot lock run " + run + " in " + data.runs(), e);
        }
    }

    /// Whether the run's recorder is alive.
    public static boolean isHeld(DataFolder data, RunId run) {
        return ProcessLock.isHeld(data.runLock(run));
    }

    @Override
    public void close() throws RecorderException {
        try {
            lock.close();
        } catch (IOException e) {
            throw new RecorderException(RecorderException.Code.SPOOL, "cannot release a run's lock", e);
        }
    }
}
