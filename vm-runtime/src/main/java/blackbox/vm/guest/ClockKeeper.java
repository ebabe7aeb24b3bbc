package blackbox.vm.guest;

import blackbox.vm.VmException;
import blackbox.vm.machine.ClockDrift;
import blackbox.vm.machine.GuestMessage.Told;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/// Keeps the wall clock of a guest that counts instructions in step with the host's. The guest is told the time
/// on its control port, whose input is part of QEMU's log, and sets its clock forward when it is behind. No
/// clock is ever set back: a guest that is ahead, because it executes more instructions per second than its
/// clock counts, is paused until the host's time has caught up, which looks to it like a slower processor. The
/// faster its clock drifts, the sooner it is asked again, at the latest after QEMU has used a little processor
/// time, or after two seconds. (`docs/decisions/0084-the-exact-tiers-clock.md`)
///
/// It has its own thread, which is never interrupted: that would close the port.
public final class ClockKeeper implements AutoCloseable {
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(5);
    private static final long ASTRAY_NS_MAX = 50_000_000;
    private static final long INTERVAL_NS_MIN = 10_000_000;
    private static final long INTERVAL_NS_MAX = 2_000_000_000;
    /// QEMU's processor time after which the guest is asked again, because it may have begun to compute.
    private static final long COMPUTED_NS_MAX = 50_000_000;
    /// A guest that has used less is idle: its clock then follows the host's, paused or not.
    private static final long COMPUTED_NS_MIN = 20_000_000;

    private static final long LOOK_EVERY_NS = 25_000_000;
    private static final long HOLD_NS_MIN = 5_000_000;
    private static final long HOLD_NS_MAX = 500_000_000;
    /// Further ahead than a guest can get in between: the host's clock was set back, which is not worth
    /// waiting for.
    private static final long AHEAD_NS_MAX = 10_000_000_000L;

    private final GuestControl control;
    private final InstantSource wall;
    private final ProcessHandle qemu;
    private final LongConsumer bootClock;
    private final ClockOffsets offsets = new ClockOffsets();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final HoldGate gate;
    /// Owned by the keeper's thread: the clock's remaining offset, when it was determined, and QEMU's processor
    /// time by then.
    private long leftNs;

    private long leftAt = System.nanoTime();
    private long leftComputedNs;
    private long lastId;

    private ClockKeeper(
            GuestControl control, InstantSource wall, ProcessHandle qemu, HoldGate gate, LongConsumer bootClock) {
        this.control = control;
        this.wall = wall;
        this.qemu = qemu;
        this.gate = gate;
        this.bootClock = bootClock;
    }

    /// Starts with a guest whose clock has just been set.
    ///
    /// @param gate a guest that it shuts off is not asked for its time
    /// @param bootClock receives the guest's boot clock, right after the guest reported it
    public static ClockKeeper start(
            GuestControl control, InstantSource wall, ProcessHandle qemu, HoldGate gate, LongConsumer bootClock) {
        var keeper = new ClockKeeper(control, wall, qemu, gate, bootClock);
        Thread.ofPlatform().daemon().name("guest-clock").start(keeper::run);
        return keeper;
    }

    /// The results so far.
    public ClockDrift drift() {
        return offsets.drift();
    }

    /// Stops it, without waiting for an answer that is on its way.
    @Override
    public void close() {
        stopped.countDown();
    }

    private void run() {
        try (var brake = new Brake(qemu)) {
            long interval = INTERVAL_NS_MIN;
            while (!rest(interval)) {
                interval = gate.isShut() ? INTERVAL_NS_MIN : keep(brake);
            }
        } catch (VmException e) {
            // The machine has ended, and whoever waits for it finds out.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Corrects the guest's clock; returns when to do so again.
    private long keep(Brake brake) throws VmException, InterruptedException {
        long sentNs = nanos(wall.instant());
        long asked = System.nanoTime();
        Told told = control.tellClock(++lastId, sentNs, ANSWER_TIMEOUT);
        if (told == null) {
            return INTERVAL_NS_MIN;
        }
        long roundTrip = System.nanoTime() - asked;
        bootClock.accept(told.bootNanos());
        long offset = told.wallNanos() - sentNs - roundTrip / 2;
        offsets.add(offset);
        offsets.forward(told.forwardNanos());
        long astray = Math.abs(offset - leftNs);
        long in = Math.max(1, asked - leftAt);
        leftNs = offset + Math.clamp(told.forwardNanos(), 0, Math.abs(offset) + roundTrip);
        long ahead = leftNs - roundTrip / 2;
        boolean computes = computedNs() - leftComputedNs >= COMPUTED_NS_MIN;
        if (computes && ahead >= HOLD_NS_MIN && ahead <= AHEAD_NS_MAX) {
            leftNs -= hold(brake, Math.min(ahead, HOLD_NS_MAX));
        }
        leftAt = System.nanoTime();
        leftComputedNs = computedNs();
        double interval = ASTRAY_NS_MAX * (double) in / Math.max(1, astray);
        return (long) Math.clamp(interval, INTERVAL_NS_MIN, INTERVAL_NS_MAX);
    }

    /// Returns how long it was paused; if it cannot be paused, the guest stays ahead, and the record says so.
    private long hold(Brake brake, long ns) {
        long from = System.nanoTime();
        try {
            if (!gate.hold(brake, Duration.ofNanos(ns))) {
                return 0;
            }
        } catch (VmException e) {
            return 0;
        }
        long held = System.nanoTime() - from;
        offsets.held(held);
        return held;
    }

    /// Waits, but only until the guest may have computed for a while. Returns whether this has been closed.
    private boolean rest(long intervalNs) throws InterruptedException {
        for (long left = intervalNs; left > 0; left -= LOOK_EVERY_NS) {
            if (stopped.await(Math.min(left, LOOK_EVERY_NS), TimeUnit.NANOSECONDS)) {
                return true;
            }
            if (computedNs() - leftComputedNs >= COMPUTED_NS_MAX) {
                return false;
            }
        }
        return stopped.getCount() == 0;
    }

    /// QEMU's processor time so far; the host counts it in hundredths of a second.
    private long computedNs() {
        return qemu.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    static long nanos(Instant instant) {
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
    }
}
