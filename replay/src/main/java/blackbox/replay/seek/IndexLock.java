package blackbox.replay.seek;

import blackbox.files.ProcessLock;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The right to add to a run's index, `replays/<run>/index`, or to delete it: one holder at a time among all
/// processes. What is added is what the guest's memory held.
public final class IndexLock implements AutoCloseable {

    private static final String FILE = "lock";
    private static final Duration TRY_EVERY = Duration.ofMillis(200);

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

    /// Somebody who waits for it.
    interface Waiter {
        /// Whether there is still something to add: the holder may have added it meanwhile. Asked before each try, and
        /// again of whoever has taken it.
        boolean isNeeded() throws IOException, VmException, ReplayException;

        /// Whether to wait on; asked before each wait.
        boolean isPatient();
    }

    /// Waits for it, to add to the index.
    ///
    /// @return null when it is not needed, or the waiter has given up
    /// @throws ReplayException `MISSING` when what the run saw was shredded, perhaps during the wait; `ENGINE` when
    ///     interrupted
    static @Nullable IndexLock take(DataFolder data, RunId run, Waiter waiter)
            throws IOException, VmException, ReplayException {
        while (waiter.isNeeded()) {
            IndexLock lock = tryTake(data, run);
            if (lock != null && lock.holds(data, run)) {
                return lock.unless(waiter);
            }
            if (lock == null && !waiter.isPatient()) {
                return null;
            }
            pause();
        }
        return null;
    }

    /// Itself, or null and closed when it is not needed after all.
    private @Nullable IndexLock unless(Waiter waiter) throws IOException, VmException, ReplayException {
        boolean needed = false;
        try {
            needed = waiter.isNeeded();
            return needed ? this : null;
        } finally {
            if (!needed) {
                close();
            }
        }
    }

    /// Whether it is on the file that is there now, of a run that was not shredded: an index may be deleted, with the
    /// file, while somebody waits. Closes it otherwise.
    private boolean holds(DataFolder data, RunId run) throws IOException, ReplayException {
        boolean kept = false;
        try {
            ShredMark mark = ShredMark.read(data.captures(run));
            if (mark != null) {
                throw new ReplayException(Code.MISSING, mark.text());
            }
            kept = lock.isOn(data.index(run).resolve(FILE));
            return kept;
        } finally {
            if (!kept) {
                close();
            }
        }
    }

    private static void pause() throws ReplayException {
        try {
            Thread.sleep(TRY_EVERY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ReplayException(Code.ENGINE, "interrupted while another process indexed the run", e);
        }
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
