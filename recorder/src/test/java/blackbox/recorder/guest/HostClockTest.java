package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;

/// What a guest says of its clock may be anything; the host's time for its events is never later than now, and never
/// before all time.
class HostClockTest {
    private static final Instant NOW = Instant.parse("2026-11-23T16:00:00Z");
    private static final long NOW_NS = NOW.getEpochSecond() * 1_000_000_000L;
    private static final long SECOND = 1_000_000_000L;

    private Instant now = NOW;
    private final HostClock clock = new HostClock(() -> now, HostClock.Pace.OWN);

    @Test
    void aGuestThatIsBehindIsPutRightByWhatItSays() {
        clock.align(10 * SECOND, NOW_NS - 5 * SECOND);
        clock.heard(12 * SECOND);
        assertEquals(NOW_NS - SECOND, clock.toHostNs(11 * SECOND));
    }

    @Test
    void aClockThatGoesBackOrNeverWasMovesNothing() {
        clock.align(10 * SECOND, NOW_NS - 5 * SECOND);
        clock.heard(12 * SECOND);
        long before = clock.toHostNs(11 * SECOND);
        for (long forged : new long[] {0, -1, Long.MIN_VALUE, 11 * SECOND}) {
            clock.heard(forged);
            assertEquals(before, clock.toHostNs(11 * SECOND));
        }
    }

    @Test
    void aClockThatCannotBeYetDoesNotEndTheCorrection() {
        clock.align(10 * SECOND, NOW_NS - 5 * SECOND);
        clock.heard(Long.MAX_VALUE);
        assertEquals(NOW_NS - 5 * SECOND, clock.toHostNs(10 * SECOND));
        now = NOW.plusSeconds(30);
        clock.heard(25 * SECOND);
        assertEquals(NOW_NS + 30 * SECOND, clock.toHostNs(25 * SECOND));
    }

    @Test
    void noNumberLeadsBeyondNowOrBeforeAllTime() {
        clock.align(10 * SECOND, NOW_NS);
        for (long forged : new long[] {Long.MAX_VALUE, 1L << 62, 11 * SECOND}) {
            assertEquals(NOW_NS, clock.toHostNs(forged));
        }
        for (long forged : new long[] {Long.MIN_VALUE, -NOW_NS * 2, -1}) {
            assertTrue(clock.toHostNs(forged) >= 0);
        }
    }

    @Test
    void timesBeforeAndAfterStepsAreMappedAsTheyWere() {
        clock.align(10 * SECOND, NOW_NS - 5_000 * SECOND);
        for (int i = 1; i <= 300; i++) {
            clock.forward((10 + i) * SECOND, 2 * SECOND);
        }
        assertEquals(NOW_NS - 5_000 * SECOND + 2 * 300 * SECOND + 300 * SECOND, clock.toHostNs(310 * SECOND));
        assertEquals(NOW_NS - 5_000 * SECOND + 2 * 200 * SECOND + 201 * SECOND - 1, clock.toHostNs(211 * SECOND - 1));
        assertEquals(4_410 * SECOND, clock.bootNs());
    }
}
