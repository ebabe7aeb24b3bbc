package blackbox.replay.seek;

import blackbox.files.ProcessLock;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The right to add to a run's index, `replays/<run>/index`, or to delete it: one holder at a time among all
/// processes. What is added is what the guest's memory held.
public final class IndexLock implements AutoCloseable {

    private static final String FILE = "lock";

    private final ProcessLock lock;

    private IndexLock(ProcessLock lock) {
        this.lock = lock;
    }

    /// Takes it; null when somebody has it.
    public static @Nullable IndexLock tryTake(DataFolder data, RunId run) throws IOException {
        return tryTake(Files.createDirectories(data.index(run)));
    }

    /// The same, for an index's folder, which exists.
    static @Nullable IndexLock tryTake(Path folder) throws IOException {
        ProcessLock lock = ProcessLock.tryTake(folder.resolve(FILE));
        return lock == null ? null : new IndexLock(lock);
    }

    /// Waits for it, to add to the index.
    ///
    /// @param waiting called once, before a wait begins
    /// @throws ReplayException `MISSING` when what the run saw was shredded, perhaps during the wait
    public static IndexLock take(DataFolder data, RunId run, Runnable waiting) throws IOException, ReplayException {
        var lock = new IndexLock(taken(data, run, waiting));
        ShredMark mark;
        try {
            mark = ShredMark.read(data.captures(run));
        } catch (IOException e) {
            lock.close();
            throw e;
        }
        if (mark != null) {
            lock.close();
            throw new ReplayException(Code.MISSING, mark.text());
        }
        return lock;
    }

    /// The lock on the file that is there now: an index may be deleted, with the file, while somebody waits for it.
    private static ProcessLock taken(DataFolder data, RunId run, Runnable waiting) throws IOException {
        while (true) {
            Path file = Files.createDirectories(data.index(run)).resolve(FILE);
            ProcessLock lock = ProcessLock.take(file, waiting);
            if (lock.isOn(file)) {
                return lock;
            }
            lock.close();
        }
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
