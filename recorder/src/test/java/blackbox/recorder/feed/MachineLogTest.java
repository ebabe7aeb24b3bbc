package blackbox.recorder.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import java.time.InstantSource;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/// A hypervisor that says too much for what waits: what does not fit is a declared loss.
class MachineLogTest {
    private static final int EVENTS = 40;

    private final MachineLog log = new MachineLog(new HostClock(InstantSource.system()));

    @Test
    void longEventsAreBoundedByTheirSumAndTheRestIsDeclared() throws Exception {
        String detail = "x".repeat(MachineLog.CHARS_MAX / 16);
        for (int i = 0; i < EVENTS; i++) {
            log.hear("RTC_CHANGE", detail, null);
        }
        var kept = new ArrayList<Event>();
        log.handTo(kept::add);
        long lost =
                assertInstanceOf(Event.RecorderLoss.class, kept.removeLast()).lost();
        assertEquals(EVENTS, kept.size() + lost);
        long chars = kept.stream()
                .map(each -> assertInstanceOf(Event.VmLifecycle.class, each))
                .mapToLong(each ->
                        each.what().length() + String.valueOf(each.detail()).length())
                .sum();
        assertTrue(chars <= MachineLog.CHARS_MAX, () -> chars + " characters waited");

        kept.clear();
        log.hear("RTC_CHANGE", detail, null);
        log.handTo(kept::add);
        assertEquals(1, kept.size(), "there is room again");
    }
}
