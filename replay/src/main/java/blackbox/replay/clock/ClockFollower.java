package blackbox.replay.clock;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.row.Row;
import blackbox.vm.VmException;
import blackbox.vm.machine.ClockPace;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Leads the clock of a guest that executes a run again along the recorded one: finds for each of the agent's
/// events, as it arrives, when it was in the recording, and has the clock corrected. Events are passed on
/// first, and never wait for it: if more arrive than it can look at, it ends, and the guest's clock runs by
/// itself.
///
/// It has its own thread, which is never interrupted: that would close the guest's port.
public final class ClockFollower implements EventSink, AutoCloseable {
    private static final int EVENTS_MAX = 1 << 15;
    private static final long LOOK_EVERY_MS = 50;
    /// How often a guest whose clocks are slowed down is asked what they show: they lose up to 45 ms meanwhile.
    private static final long ASK_EVERY_NS = 200_000_000;

    private final EventSink next;
    private final EventSource recorded;
    private final BlockingQueue<Event> events = new ArrayBlockingQueue<>(EVENTS_MAX);
    private final ClockServo servo = new ClockServo();
    private final Row row = new Row();
    private volatile boolean stopped;
    private volatile @Nullable Instant lostAt;
    private long askedAt;
    private @Nullable Thread thread;

    /// The guest's clock. Owned by one thread.
    public interface GuestClock {
        /// Has it set forward, and from then on run at that pace.
        ///
        /// @param forwardNs 0 for not at all
        /// @return what it showed afterwards, nanoseconds since 1970; null if the guest did not answer
        /// @throws VmException when the machine has ended
        @Nullable
        Long correct(long forwardNs, ClockPace pace) throws VmException, InterruptedException;
    }

    /// @param recorded the run's events
    /// @param next takes the re-execution's
    public ClockFollower(EventSource recorded, EventSink next) {
        this.recorded = recorded;
        this.next = next;
    }

    @Override
    public void accept(Event event) throws RecorderException {
        next.accept(event);
        GuestOrigin origin = event.header().origin();
        if (origin != null && origin.actor() == Actor.AGENT && !stopped && !events.offer(event)) {
            lostAt = Instant.EPOCH.plusNanos(event.header().atNs());
            stopped = true; // what is not counted would be mistaken for something else
        }
    }

    @Override
    public @Nullable Exception failure() {
        return next.failure();
    }

    /// From when on the guest's clock ran by itself, because more happened than could be looked at; null if it
    /// did not come to that.
    public @Nullable Instant lostAt() {
        return lostAt;
    }

    /// Begins, when the clock has been set to the recorded start.
    public void follow(GuestClock clock) {
        thread = Thread.ofPlatform().daemon().name("replay-clock").start(() -> run(clock));
    }

    private void run(GuestClock clock) {
        try (var times = new RecordedTimes(recorded, new KeyedHash(new SecureRandom().nextLong()))) {
            while (!stopped) {
                Event event = events.poll(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
                for (; event != null; event = events.poll()) {
                    see(event, times);
                }
                correct(clock);
            }
            if (servo.pace() != ClockPace.FULL) {
                correct(clock, new ClockServo.Correction(0, ClockPace.FULL));
            }
        } catch (VmException e) {
            // The machine has ended, and whoever waits for it finds out.
        } catch (IOException e) {
            // The recording cannot be read: the comparison will say so.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            stopped = true;
            events.clear();
        }
    }

    private void see(Event event, RecordedTimes times) throws IOException {
        EventRows.fill(event, row);
        OptionalLong then = times.of(row);
        if (then.isPresent()) {
            long at = event.header().atNs();
            servo.see(at, at - then.getAsLong());
        }
    }

    private void correct(GuestClock clock) throws VmException, InterruptedException {
        ClockServo.Correction wanted = servo.correction();
        boolean ask = servo.pace() != ClockPace.FULL && System.nanoTime() - askedAt > ASK_EVERY_NS;
        if (stopped || wanted == null && !ask) {
            return;
        }
        correct(clock, wanted == null ? new ClockServo.Correction(0, servo.kept()) : wanted);
    }

    private void correct(GuestClock clock, ClockServo.Correction wanted) throws VmException, InterruptedException {
        Long at = clock.correct(wanted.forwardNs(), wanted.pace());
        askedAt = System.nanoTime();
        if (at != null) {
            servo.corrected(at, wanted.pace());
        }
    }

    /// Ends it, without waiting.
    public void stop() {
        stopped = true;
    }

    /// Ends it and waits until it has.
    @Override
    public void close() {
        stop();
        Thread started = thread;
        if (started == null) {
            return;
        }
        try {
            started.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
