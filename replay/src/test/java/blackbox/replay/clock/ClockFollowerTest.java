package blackbox.replay.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClockFollowerTest {

    /// Nobody looks at the events here, as a follower that is too slow would not.
    @Test
    void whoCannotKeepUpSaysFromWhenOn() throws Exception {
        long[] times = TimedRun.times(40_000);
        List<Event> events = TimedRun.recorded(times).events;
        var passed = new ArrayList<Event>();
        try (var follower = new ClockFollower(
                from -> {
                    throw new AssertionError("not read");
                },
                passed::add)) {
            for (Event event : events.subList(0, 32_768)) {
                follower.accept(event);
            }
            assertNull(follower.lostAt());
            for (Event event : events.subList(32_768, events.size())) {
                follower.accept(event);
            }
            long first = events.get(32_768).header().atNs();
            assertEquals(Instant.EPOCH.plusNanos(first), follower.lostAt());
        }
        assertEquals(events, passed);
    }
}
