package blackbox.replay.clock;

import static blackbox.replay.clock.TimedRun.START_NS;
import static blackbox.replay.clock.TimedRun.THOUSANDTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.clock.ClockServo.Correction;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Row;
import blackbox.vm.machine.ClockPace;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/// A simulated guest whose clock is led along a recording. Its events arrive late, as the tracer's do, and
/// corrections take their time.
class ClockServoTest {
    private static final long POLL_NS = 20 * THOUSANDTH;
    private static final long TRIP_NS = 3 * THOUSANDTH;
    private static final int DEEDS = 5_000;

    private final long[] recorded = TimedRun.times(DEEDS);
    private ClockServo servo = new ClockServo();

    private static final Map<ClockPace, Double> PACES =
            Map.of(ClockPace.FULL, 1.0, ClockPace.SLOW, 0.9, ClockPace.SLOWEST, 0.775);

    /// How long a replay takes for what took the recording `ns`, from its `number`-th deed on.
    private interface Speed {
        double of(int number, long ns);
    }

    /// The offsets at the deeds, in their order; the clock never goes back.
    private long[] replay(Speed speed) throws Exception {
        servo = new ClockServo();
        var replay = new TimedRun(3);
        var offsets = new long[DEEDS];
        var onItsWay = new ArrayDeque<Event>();
        var row = new Row();
        double guestNs = 0;
        double nextPollNs = POLL_NS;
        double hostNs = 0;
        long last = START_NS;
        try (var times = new RecordedTimes(TimedRun.recorded(recorded).source(), new KeyedHash(5))) {
            for (int i = 0; i < DEEDS; i++) {
                double took = speed.of(i, recorded[i] - last);
                last = recorded[i];
                hostNs += took;
                guestNs += took * PACES.getOrDefault(servo.pace(), 1.0);
                if (hostNs >= nextPollNs) {
                    for (Event event = onItsWay.poll(); event != null; event = onItsWay.poll()) {
                        EventRows.fill(event, row);
                        OptionalLong then = times.of(row);
                        long at = event.header().atNs();
                        then.ifPresent(ns -> servo.see(at, at - ns));
                    }
                    Correction correction = servo.correction();
                    if (correction != null) {
                        assertTrue(correction.forwardNs() >= 0);
                        guestNs += correction.forwardNs();
                        servo.corrected(START_NS + (long) guestNs, correction.pace());
                    }
                    nextPollNs = hostNs + POLL_NS + TRIP_NS;
                }
                onItsWay.add(replay.deed(i, START_NS + (long) guestNs));
                offsets[i] = (long) guestNs - (recorded[i] - START_NS);
            }
        }
        return offsets;
    }

    private static long p99(long[] offsets, int from, int to) {
        long[] sizes = Arrays.stream(offsets, from, to).map(Math::abs).sorted().toArray();
        return sizes[sizes.length * 99 / 100];
    }

    @Test
    void aReplayAtTheRecordedPaceIsLeftAlone() throws Exception {
        assertEquals(0, p99(replay((_, ns) -> ns), 0, DEEDS));
    }

    @Test
    void aFasterReplayIsFollowed() throws Exception {
        for (double speed : new double[] {0.95, 0.8, 0.7}) {
            long p99 = p99(replay((_, ns) -> ns * speed), 0, DEEDS);
            assertTrue(p99 < 20 * THOUSANDTH, speed + ": " + p99);
        }
    }

    @Test
    void aSlowerReplayIsFollowedAsFarAsClocksCanBeSlowedDown() throws Exception {
        long p99 = p99(replay((_, ns) -> ns * 1.08), 0, DEEDS);
        assertTrue(p99 < 20 * THOUSANDTH, () -> "" + p99);
    }

    @Test
    void oneThatIsMuchSlowerIsFollowedMoreLoosely() throws Exception {
        long p99 = p99(replay((_, ns) -> ns * 1.25), 0, DEEDS);
        assertTrue(p99 < 350 * THOUSANDTH, () -> "" + p99);
    }

    /// An answer of which the recording waited for two seconds, and the replay did not.
    @Test
    void aLongWaitThatTheReplayDoesNotHaveIsMadeUpFor() throws Exception {
        for (int i = 2_000; i < DEEDS; i++) {
            recorded[i] += 2_000 * THOUSANDTH;
        }
        long[] offsets = replay((number, ns) -> number == 2_000 ? THOUSANDTH : ns);
        // The deeds until the next poll are at their own times.
        assertTrue(
                p99(offsets, 2_500, DEEDS) < 20 * THOUSANDTH,
                Arrays.toString(Arrays.copyOfRange(offsets, 1_990, 2_510)));
    }

    /// It stands still for a second, and makes that up later, for a clock is never set back.
    @Test
    void aReplayThatStoodStillIsWaitedFor() throws Exception {
        long[] offsets = replay((number, ns) -> number == 1_000 ? ns + 100 * THOUSANDTH : ns);
        assertTrue(offsets[1_001] > 90 * THOUSANDTH);
        assertTrue(
                p99(offsets, 3_000, DEEDS) < 20 * THOUSANDTH,
                Arrays.toString(Arrays.copyOfRange(offsets, 2_990, 3_010)));
        for (int i = 1; i < DEEDS; i++) {
            assertTrue(offsets[i] > -20 * THOUSANDTH, "set forward although it was ahead");
        }
    }

    @Test
    void nothingSeenIsNothingDone() {
        assertNull(servo.correction());
        servo.see(START_NS, -50 * THOUSANDTH);
        servo.corrected(START_NS + THOUSANDTH, ClockPace.FULL);
        servo.see(START_NS, -50 * THOUSANDTH);
        assertNull(servo.correction(), "from before the correction");
    }

    @Test
    void noStepIsLarge() {
        servo.see(START_NS, -1_000_000 * THOUSANDTH);
        assertEquals(ClockServo.FORWARD_NS_MAX, forward());
        for (int i = 1; i < 10; i++) {
            servo.see(START_NS + i, -5 * THOUSANDTH);
        }
        assertEquals(5 * THOUSANDTH, forward());
    }

    private long forward() {
        Correction correction = servo.correction();
        return correction == null ? 0 : correction.forwardNs();
    }

    @Test
    void aClockThatIsAheadIsSlowedDownUntilItIsNot() {
        servo.see(START_NS, 3 * THOUSANDTH);
        assertEquals(new Correction(0, ClockPace.SLOW), servo.correction());
        servo.corrected(START_NS + 1, ClockPace.SLOW);
        servo.see(START_NS + 2, THOUSANDTH);
        assertNull(servo.correction());
        servo.corrected(START_NS + 3, ClockPace.SLOW);
        servo.see(START_NS + 4, 0);
        assertEquals(new Correction(0, ClockPace.FULL), servo.correction());
    }

    @Test
    void aClockThatIsFarAheadIsSlowedDownAsMuchAsCanBe() {
        servo.see(START_NS, 300 * THOUSANDTH);
        assertEquals(new Correction(0, ClockPace.SLOWEST), servo.correction());
        servo.corrected(START_NS + 1, ClockPace.SLOWEST);
        servo.see(START_NS + 2, 150 * THOUSANDTH);
        assertNull(servo.correction());
        assertEquals(ClockPace.SLOWEST, servo.kept());
        servo.corrected(START_NS + 3, ClockPace.SLOWEST);
        assertEquals(ClockPace.SLOW, servo.kept(), "no event says how far ahead it is");
        servo.see(START_NS + 4, 149 * THOUSANDTH);
        assertEquals(new Correction(0, ClockPace.SLOW), servo.correction());
    }
}
