package blackbox.cli.terminal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Says when the process is to stop, and holds up its end until everything is closed in order.
public final class ShutdownWait {

    private static final long CLOSE_SECONDS_MAX = 30;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    private final Runnable first;

    private ShutdownWait(Runnable first) {
        this.first = first;
    }

    /// @param first is run as soon as the process is to stop
    public static ShutdownWait onShutdown(Runnable first) {
        var wait = new ShutdownWait(first);
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(wait::shutDown));
        return wait;
    }

    /// Waits until the process is to stop.
    public void await() throws InterruptedException {
        asked.await();
    }

    /// Waits for at most `time`; says whether the process is to stop.
    public boolean await(Duration time) throws InterruptedException {
        return asked.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// Whether the process is to stop.
    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    /// Everything is closed.
    public void closed() {
        closed.countDown();
    }

    private void shutDown() {
        asked.countDown();
        try {
            first.run();
        } finally {
            awaitClosed();
        }
    }

    private void awaitClosed() {
        try {
            if (!closed.await(CLOSE_SECONDS_MAX, TimeUnit.SECONDS)) {
                System.err.println(
                        "blackbox: not everything could be closed in time; the next start resumes from there");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
