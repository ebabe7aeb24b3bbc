package blackbox.recorder.anchor;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Progress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Anchors the log of runs at intervals, on its own thread, until it is closed. Reports when it begins to
/// fail and when it works again, not each attempt.
public final class AnchorLoop implements AutoCloseable {

    /// How long the thread has to end when it is closed.
    private static final Duration END = Duration.ofSeconds(5);

    private final Anchoring anchoring;
    private final Pacing pacing;
    private final Progress progress;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final CountDownLatch first = new CountDownLatch(1);
    private final Thread thread;
    private @Nullable String trouble;

    private AnchorLoop(Anchoring anchoring, Pacing pacing, Progress progress) {
        this.anchoring = anchoring;
        this.pacing = pacing;
        this.progress = progress;
        this.thread = Thread.ofPlatform().daemon().name("anchors").unstarted(this::loop);
    }

    /// How often: every `interval` while it succeeds; after the n-th failure in a row, 2^n times that, up to
    /// `longest`.
    public record Pacing(Duration interval, Duration longest) {

        /// Every ten minutes, and every two hours at worst.
        public static final Pacing STANDARD = new Pacing(Duration.ofMinutes(10), Duration.ofHours(2));

        /// Only once.
        public static final Pacing ONCE = new Pacing(Duration.ofDays(365), Duration.ofDays(365));

        Duration after(int failures) {
            Duration pause = interval.multipliedBy(1L << Math.min(failures, 20));
            return pause.compareTo(longest) < 0 ? pause : longest;
        }
    }

    /// Starts; the first attempt is made at once.
    public static AnchorLoop start(Anchoring anchoring, Pacing pacing, Progress progress) {
        var loop = new AnchorLoop(anchoring, pacing, progress);
        loop.thread.start();
        return loop;
    }

    private void loop() {
        int failures = 0;
        try {
            do {
                failures = tried() ? 0 : failures + 1;
                first.countDown();
            } while (!closed.await(pacing.after(failures).toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean tried() throws InterruptedException {
        String now;
        try {
            now = anchoring.run() instanceof Anchoring.Outcome.Asked asked && !asked.isComplete()
                    ? "not everyone anchors the log of runs: " + asked.missing()
                    : null;
        } catch (RecorderException | RuntimeException e) {
            now = e.getMessage() == null ? e.toString() : e.getMessage();
        }
        if (now != null && trouble == null) {
            progress.say(now);
        } else if (now == null && trouble != null) {
            progress.say("the log of runs is anchored again");
        }
        trouble = now;
        return now == null;
    }

    /// Waits until everyone was asked once, for at most `timeout`; says whether they were.
    public boolean awaitFirst(Duration timeout) throws InterruptedException {
        return first.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(END);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
