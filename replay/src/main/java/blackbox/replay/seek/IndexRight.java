package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.Watchdog;
import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What a seek does about the index, after another process may have done some of it.
///
/// @param isNeeded whether there is something to index
/// @param lock the right to add to the index; null when nothing is needed, or when somebody else has the right and
///     does not get on: then a pass executes what is needed and saves nothing
record IndexRight(boolean isNeeded, @Nullable IndexLock lock) implements AutoCloseable {

    /// Whether something must still be indexed, as the index is now.
    @FunctionalInterface
    interface Need {
        boolean remains() throws IOException, VmException, ReplayException;
    }

    /// Waits, if it must, until nothing is needed or the right is free.
    static IndexRight take(DataFolder data, RunId run, Waiting waiting)
            throws IOException, VmException, ReplayException {
        IndexLock lock = IndexLock.take(data, run, waiting);
        return new IndexRight(waiting.needed, lock);
    }

    /// Waits as long as the holder gets on: it began earlier, so it is there sooner. One that was stopped, by ctrl-Z
    /// for example, is not waited for.
    static final class Waiting implements IndexLock.Waiter {
        /// Far longer than the way from one checkpoint to the next.
        private static final Duration STILL_MAX = Duration.ofMinutes(2);

        private final Need need;
        private final LongSupplier checkpoints;
        private final Progress progress;
        private final Watchdog watchdog;
        private boolean needed;
        private boolean told;

        /// @param checkpoints how many the index has
        Waiting(Need need, LongSupplier checkpoints, Progress progress) {
            this(need, checkpoints, progress, System::nanoTime);
        }

        /// @param nanoTime a clock like [System#nanoTime]
        Waiting(Need need, LongSupplier checkpoints, Progress progress, LongSupplier nanoTime) {
            this.need = need;
            this.checkpoints = checkpoints;
            this.progress = progress;
            this.watchdog = new Watchdog(STILL_MAX, "checkpoint", nanoTime);
        }

        @Override
        public boolean isNeeded() throws IOException, VmException, ReplayException {
            needed = need.remains();
            return needed;
        }

        @Override
        public boolean isPatient() {
            if (!told) {
                told = true;
                progress.say("another process is indexing this run: waiting until it has got this far");
            }
            boolean gettingOn = watchdog.see(checkpoints.getAsLong()) == null;
            if (!gettingOn) {
                progress.say("the other process does not get on; going on without it, and saving nothing");
            }
            return gettingOn;
        }
    }

    @Override
    public void close() throws IOException {
        if (lock != null) {
            lock.close();
        }
    }
}
