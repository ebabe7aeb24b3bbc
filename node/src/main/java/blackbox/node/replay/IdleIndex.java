package blackbox.node.replay;

import blackbox.replay.ReplayException;
import blackbox.replay.landing.Landing;
import blackbox.schemas.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Completes a run's index while a paused replay waits for a command: in a machine of its own, so that the paused
/// one is not touched. It ends at once when a command comes, and resumes from its last checkpoint when the replay
/// waits again. Owned by one thread; [#end] may come from any.
final class IdleIndex {
    private final Landing landing;
    private final Duration after;
    private final Progress progress;
    private volatile @Nullable Thread thread;
    private volatile boolean done;

    /// @param after how long the replay waits for a command before this begins
    /// @param progress is told if the run cannot be indexed
    IdleIndex(Landing landing, Duration after, Progress progress) {
        this.landing = landing;
        this.after = after;
        this.progress = progress;
    }

    /// The replay waits now.
    synchronized void begin() {
        if (!done && thread == null) {
            Thread begun = Thread.ofPlatform().name("idle-index").daemon().unstarted(this::run);
            thread = begun;
            begun.start();
        }
    }

    /// A command came, or the session ends: when this returns, nothing is executed any more, and the right to add to
    /// the index is free.
    synchronized void end() {
        Thread running = thread;
        if (running == null) {
            return;
        }
        thread = null;
        running.interrupt();
        boolean interrupted = false;
        while (running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            Thread.sleep(after);
            landing.seeker(line -> {}).indexAll();
            done = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ReplayException | IOException | RuntimeException e) {
            if (Objects.equals(thread, Thread.currentThread())) { // not told to end
                done = true;
                progress.say("the rest of the run is not indexed: " + e.getMessage());
            }
        }
    }
}
