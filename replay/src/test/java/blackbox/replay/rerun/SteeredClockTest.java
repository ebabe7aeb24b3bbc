package blackbox.replay.rerun;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.HostClock;
import blackbox.vm.machine.ClockPace;
import blackbox.vm.machine.GuestMessage.Told;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A replay's clock and the mapping of its guest's events go with what the guest's clock does, and no answer takes them
/// anywhere else.
class SteeredClockTest {
    private static final long THOUSANDTH = 1_000_000;
    private static final long BOOT_NS = 40_000 * THOUSANDTH;
    private static final Instant START = Instant.parse("2026-11-25T12:00:00Z");
    private static final long START_NS = START.getEpochSecond() * 1_000_000_000L;

    private Instant now = START;
    private final ReplayClock wall = new ReplayClock(() -> now);
    private final HostClock clock = new HostClock(wall);

    private SteeredClock steered(Told told) {
        clock.align(BOOT_NS, START_NS);
        return new SteeredClock(
                (_, _) -> {
                    now = now.plusNanos(2 * THOUSANDTH);
                    return told;
                },
                wall,
                clock);
    }

    @Test
    void eventsBeforeAndAfterAStepKeepTheirTimes() throws Exception {
        SteeredClock steered = steered(new Told(1, BOOT_NS + THOUSANDTH, START_NS + THOUSANDTH, 50 * THOUSANDTH));
        assertEquals(START_NS + 51 * THOUSANDTH, steered.correct(50 * THOUSANDTH, ClockPace.FULL));
        assertEquals(START_NS + 52 * THOUSANDTH, clock.nowNs());
        assertEquals(START_NS + THOUSANDTH / 2, clock.toHostNs(BOOT_NS + THOUSANDTH / 2));
        assertEquals(START_NS + 51 * THOUSANDTH + 7, clock.toHostNs(BOOT_NS + THOUSANDTH + 7));
    }

    /// The guest was told to wait for its clock: after a second it is 100 ms behind the host's.
    @Test
    void theReplaysClockIsSlowedDownWithTheGuests() throws Exception {
        SteeredClock steered = steered(new Told(1, BOOT_NS + 901 * THOUSANDTH, START_NS + 901 * THOUSANDTH, 0));
        now = START.plusMillis(1_000);
        assertEquals(START_NS + 901 * THOUSANDTH, steered.correct(0, ClockPace.SLOW));
        assertEquals(START_NS + 902 * THOUSANDTH, clock.nowNs());
    }

    @Test
    void noAnswerMovesNothing() throws Exception {
        var steered = new SteeredClock((_, _) -> null, wall, clock);
        assertNull(steered.correct(50 * THOUSANDTH, ClockPace.FULL));
        assertEquals(START, wall.instant());
    }

    /// A guest that sets its clock after nobody waits any longer.
    @Test
    void aLateStepIsFoundByTheNextAnswer() throws Exception {
        clock.align(BOOT_NS, START_NS);
        var told = new ArrayDeque<Told>();
        var steered = new SteeredClock(
                (_, _) -> {
                    now = now.plusNanos(2 * THOUSANDTH);
                    return told.poll();
                },
                wall,
                clock);
        assertNull(steered.correct(9_000 * THOUSANDTH, ClockPace.FULL));
        told.add(new Told(2, BOOT_NS + 3 * THOUSANDTH, START_NS + 9_003 * THOUSANDTH, 0));
        assertEquals(START_NS + 9_003 * THOUSANDTH, steered.correct(0, ClockPace.FULL));
        assertEquals(START_NS + 9_004 * THOUSANDTH, clock.nowNs());
    }

    @Test
    void whateverTheGuestClaimsTheClockStaysWhereItCanBe() throws Exception {
        long[] forged = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0, 1, START_NS * 2, Long.MAX_VALUE};
        for (long boot : forged) {
            for (long wallNs : forged) {
                for (long forward : forged) {
                    now = START;
                    wall.set(START);
                    SteeredClock steered = steered(new Told(1, boot, wallNs, forward));
                    long after = Objects.requireNonNull(steered.correct(50 * THOUSANDTH, ClockPace.SLOW));
                    Duration moved = Duration.between(START, wall.instant());
                    assertTrue(
                            moved.toNanos() >= -3 * THOUSANDTH && moved.toNanos() <= 55 * THOUSANDTH,
                            () -> "moved by " + moved);
                    assertTrue(
                            after >= START_NS - 6 * THOUSANDTH && after <= START_NS + 55 * THOUSANDTH,
                            () -> "claims " + (after - START_NS));
                    assertEquals(START_NS - 5 * THOUSANDTH, clock.toHostNs(BOOT_NS - 5 * THOUSANDTH));
                }
            }
        }
    }
}
