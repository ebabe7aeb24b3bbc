package blackbox.recorder.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.FindingDetail;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SilenceWatchTest {

    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void silenceIsSaidOnceAndItsEndToo() {
        var watch = watch(HostClock.Pace.SHARED);
        assertNull(look(watch, 0, 104), "before the first heartbeat the start counts");
        assertEquals(
                new FindingDetail.GuestSilent(100 * SECOND_NS),
                assertNotNullFinding(look(watch, 0, 106)).detail());
        assertNull(look(watch, 0, 120));
        assertEquals(
                new FindingDetail.GuestBack(120 * SECOND_NS),
                assertNotNullFinding(look(watch, 120, 121)).detail());
        assertNull(look(watch, 122, 123));
    }

    @Test
    void aGuestWithAPaceOfItsOwnMayTakeLonger() {
        var watch = watch(HostClock.Pace.OWN);
        assertNull(look(watch, 0, 129));
        assertEquals(
                new FindingDetail.GuestSilent(100 * SECOND_NS),
                assertNotNullFinding(look(watch, 0, 131)).detail());
    }

    /// A re-execution sets the host's time for the guest's events to the recording's.
    @Test
    void aHostClockThatIsSetIsNoSilence() {
        var watch = watch(HostClock.Pace.SHARED);
        assertNull(watch.look(101 * SECOND_NS, 102 * SECOND_NS, 102 * SECOND_NS));
        assertNull(watch.look(101 * SECOND_NS, 900 * SECOND_NS, 103 * SECOND_NS));
        assertNull(watch.look(901 * SECOND_NS, 901 * SECOND_NS, 104 * SECOND_NS));
        assertEquals(
                new FindingDetail.GuestSilent(901 * SECOND_NS),
                assertNotNullFinding(watch.look(901 * SECOND_NS, 50 * SECOND_NS, 110 * SECOND_NS))
                        .detail());
    }

    /// As when the recorder was stopped, or its host's disk stood still: what came meanwhile is not read yet.
    @Test
    void timeInWhichNobodyLookedIsNoSilence() {
        var watch = watch(HostClock.Pace.SHARED);
        assertNotNullFinding(look(watch, 0, 500));
        assertFalse(watch.isQuietFor(Duration.ofSeconds(10)));
        for (int second = 501; second < 520; second++) {
            assertNull(look(watch, 0, second));
        }
        assertTrue(watch.isQuietFor(Duration.ofSeconds(10)));
        assertFalse(watch.isQuietFor(Duration.ofMinutes(5)));
        assertNotNullFinding(look(watch, 520, 521));
        assertFalse(watch.isQuietFor(Duration.ofSeconds(10)));
    }

    @Test
    void noLimitIsShorterThanASilence() {
        var watch = watch(HostClock.Pace.OWN);
        for (int second = 101; second <= 125; second++) {
            assertNull(look(watch, 0, second));
        }
        assertFalse(watch.isQuietFor(Duration.ofSeconds(10)));
    }

    private static SilenceWatch watch(HostClock.Pace pace) {
        return new SilenceWatch(pace, 100 * SECOND_NS, 100 * SECOND_NS);
    }

    private static @Nullable Event look(SilenceWatch watch, long heard, long now) {
        return watch.look(heard * SECOND_NS, now * SECOND_NS, now * SECOND_NS);
    }

    private static Event.RecorderFinding assertNotNullFinding(@Nullable Event event) {
        assertNotNull(event);
        return (Event.RecorderFinding) event;
    }
}
