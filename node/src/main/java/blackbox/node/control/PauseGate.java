package blackbox.node.control;

import java.time.Duration;

/// Whether a run is paused, for those of its threads that wait for its guest. Safe to share.
public final class PauseGate {

    private boolean shut;
    private boolean over;
    private long shutAt;
    private long shutNs;

    /// Pauses it.
    ///
    /// @return false once it is ending: its guest is needed then
    public synchronized boolean shut() {
        if (over) {
            return false;
        }
        if (!shut) {
            shut = true;
            shutAt = System.nanoTime();
        }
        return true;
    }

    /// Lets it go on.
    public synchronized void open() {
        if (shut) {
            shutNs += System.nanoTime() - shutAt;
            shut = false;
        }
        notifyAll();
    }

    /// Whether it is paused.
    public synchronized boolean isShut() {
        return shut;
    }

    /// How long it was paused so far, in all.
    public synchronized Duration shutFor() {
        return Duration.ofNanos(shutNs + (shut ? System.nanoTime() - shutAt : 0));
    }

    /// Waits until it is not paused; from then on it cannot be.
    public synchronized void end() throws InterruptedException {
        while (shut && !over) {
            wait();
        }
        over = true;
    }

    /// Lets nobody wait any longer, because its machine is ended.
    public synchronized void abandon() {
        over = true;
        notifyAll();
    }
}
