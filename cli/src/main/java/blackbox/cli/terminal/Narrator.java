package blackbox.cli.terminal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Tells the person at the terminal what is happening. After a while without news, it says what is still
/// running, and for how long. Any thread may call it; its state is guarded by itself.
public final class Narrator implements AutoCloseable {
    /// The longest time without a line.
    static final Duration SILENCE_MAX = Duration.ofSeconds(8);

    private static final long LOOK_EVERY_MS = 500;

    private final Consumer<String> lines;
    private final LongSupplier nanoTime;
    private final long silenceNanosMax;
    private final List<Phase> ended = new ArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private String doing = "";
    private long doingSince;
    private long saidAt;
    private boolean quiet;
    private @Nullable String phase;
    private long phaseSince;

    /// A phase of the work that is over.
    ///
    /// @param name one word or two
    /// @param took from its beginning to that of the next
    public record Phase(String name, Duration took) {
        @Override
        public String toString() {
            return name + " " + time(took);
        }
    }

    /// @param lines receives each line, without its line end
    /// @param nanoTime like [System#nanoTime]
    Narrator(Consumer<String> lines, Duration silenceMax, LongSupplier nanoTime) {
        this.lines = lines;
        this.nanoTime = nanoTime;
        this.silenceNanosMax = silenceMax.toNanos();
        this.saidAt = nanoTime.getAsLong();
        this.doingSince = saidAt;
        this.phaseSince = saidAt;
    }

    /// One that writes to standard error and checks by itself whether a reminder is due.
    public static Narrator onStandardError() {
        var narrator = new Narrator(line -> System.err.println("blackbox: " + line), SILENCE_MAX, System::nanoTime);
        Thread.ofPlatform().daemon().name("narrator").start(narrator::watch);
        return narrator;
    }

    /// Begins a phase of the work and ends the one before.
    public synchronized void phase(String name, String what) {
        endPhase();
        phase = name;
        say("== " + name + ": " + what);
    }

    /// Says a line. What it describes is taken to last until the next line.
    public synchronized void say(String line) {
        long now = nanoTime.getAsLong();
        doing = line.startsWith("== ") ? line.substring(3) : line;
        doingSince = now;
        saidAt = now;
        lines.accept(line);
    }

    /// Says that the last thing is still running, when nothing was said for too long.
    synchronized void breakSilence() {
        long now = nanoTime.getAsLong();
        if (!quiet && now - saidAt >= silenceNanosMax && !doing.isEmpty()) {
            saidAt = now;
            lines.accept("   … " + time(Duration.ofNanos(now - doingSince)) + " so far: " + doing);
        }
    }

    /// From here on the terminal belongs to the user's program: there are no reminders.
    public synchronized void fallSilent() {
        quiet = true;
    }

    /// The program has ended, and there may be more to wait for: reminders resume.
    public synchronized void speakAgain(String what) {
        quiet = false;
        doing = what;
        doingSince = nanoTime.getAsLong();
        saidAt = doingSince;
    }

    /// The phases that are over, in order.
    public synchronized List<Phase> phases() {
        return List.copyOf(ended);
    }

    /// Ends the last phase.
    @Override
    public synchronized void close() {
        endPhase();
        closed.countDown();
    }

    private void endPhase() {
        long now = nanoTime.getAsLong();
        String name = phase;
        if (name != null) {
            ended.add(new Phase(name, Duration.ofNanos(now - phaseSince)));
        }
        phase = null;
        phaseSince = now;
    }

    private void watch() {
        try {
            while (!closed.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
                breakSilence();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static String time(Duration took) {
        long seconds = Math.round(took.toMillis() / 1000.0);
        return seconds < 60 ? seconds + " s" : seconds / 60 + " min " + seconds % 60 + " s";
    }
}
