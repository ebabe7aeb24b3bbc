package blackbox.cli.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import org.junit.jupiter.api.Test;

class SilenceWatchTest {

    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void silenceIsSaidOnceAndItsEndToo() {
        var watch = new SilenceWatch(HostClock.Pace.SHARED, 100 * SECOND_NS);
        assertNull(watch.look(0, 104 * SECOND_NS), "before the first heartbeat the start counts");
        Event silent = watch.look(0, 106 * SECOND_NS);
        assertEquals("GUEST_SILENT", assertNotNullFinding(silent).what());
        assertNull(watch.look(0, 120 * SECOND_NS));
        assertEquals(
                "GUEST_BACK",
                assertNotNullFinding(watch.look(120 * SECOND_NS, 121 * SECOND_NS))
                        .what());
        assertNull(watch.look(122 * SECOND_NS, 123 * SECOND_NS));
    }

    private static Event.RecorderFinding assertNotNullFinding(@org.jspecify.annotations.Nullable Event event) {
        assertNotNull(event);
        return (Event.RecorderFinding) event;
    }
}
