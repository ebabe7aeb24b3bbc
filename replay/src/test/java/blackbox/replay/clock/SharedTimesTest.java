package blackbox.replay.clock;

import static blackbox.replay.clock.TimedRun.THOUSANDTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.verdict.SharedOffsets;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import org.junit.jupiter.api.Test;

class SharedTimesTest {
    private static final int DEEDS = 1_000;

    private final long[] recorded = TimedRun.times(DEEDS);

    @Test
    void offsetsAreThoseOfTheAgentsEvents() throws Exception {
        TimedRun one = TimedRun.recorded(recorded);
        var other = new TimedRun(3);
        other.events.add(new Event.RunOpen(EventHeader.host(1), Text.of("run"), "{}"));
        for (int i = 0; i < DEEDS; i++) {
            other.deed(i, recorded[i] + (i == 17 ? -90 * THOUSANDTH : i % 100 == 0 ? 40 * THOUSANDTH : 2 * THOUSANDTH));
        }
        for (int kept : new int[] {DEEDS, 300}) {
            var times = new SharedTimes(Agreements.NOBODY, kept);
            times.agree(1, 2);
            times.begin();
            assertNull(times.timeline(one.source(), other.source()).offsets());
            for (int i = DEEDS - 1; i >= 0; i--) {
                times.agree(i, i + 1);
            }
            SharedOffsets offsets = times.timeline(one.source(), other.source()).offsets();
            assertNotNull(offsets);
            assertEquals(2 * THOUSANDTH, offsets.p50Ns());
            if (kept == DEEDS) {
                assertEquals(new SharedOffsets(DEEDS, 2 * THOUSANDTH, 40 * THOUSANDTH, -90 * THOUSANDTH), offsets);
            } else {
                assertEquals(DEEDS / 4, offsets.events());
            }
        }
    }
}
