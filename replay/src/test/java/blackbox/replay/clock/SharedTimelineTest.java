package blackbox.replay.clock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.Window;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What took so long on one side takes as long on the other as what both did shows.
class SharedTimelineTest {
    private static final long SECOND = 1_000_000_000;
    private static final long BEGAN = 1_795_611_318 * SECOND;

    /// Something each second, for which the other side needs so many times as long.
    private static SharedTimeline timeline(int seconds, double slower) {
        var places = new ArrayList<SharedTimeline.Place>();
        for (int i = seconds; i >= 0; i--) {
            places.add(new SharedTimeline.Place(at(i), at(i * slower)));
        }
        return new SharedTimeline(places);
    }

    private static long at(double seconds) {
        return BEGAN + (long) (seconds * SECOND);
    }

    private static Window length(double from, double to) {
        return new Window((long) (from * SECOND), (long) (to * SECOND));
    }

    @Test
    void aDurationIsThatOfWhatWasDoneInIt() {
        SharedTimeline twice = timeline(100, 2);
        assertTrue(twice.isSameStretch(at(80), length(48.5, 49.5), at(160), length(90, 150)));
        assertTrue(twice.isSameStretch(at(80), length(48.5, 49.5), at(160), length(96.5, 97.5)));
        assertFalse(twice.isSameStretch(at(80), length(48.5, 49.5), at(160), length(30, 90)));
        assertFalse(twice.isSameStretch(at(80), length(48.5, 49.5), at(160), length(150, 210)));
        assertFalse(twice.isSameStretch(at(80), length(48.5, 49.5), at(160), length(99.5, 100.5)));
        assertTrue(timeline(100, 0.5).isSameStretch(at(80), length(30, 90), at(40), length(30.5, 31.5)));
    }

    /// Whatever was rounded to a minute, it is not another minute where both sides took as long.
    @Test
    void aMinuteIsNotTheNextOne() {
        SharedTimeline equal = timeline(300, 1);
        assertTrue(equal.isSameStretch(at(200), length(30, 90), at(200), length(30, 90)));
        assertFalse(equal.isSameStretch(at(200), length(30, 90), at(200), length(90, 150)));
        assertFalse(equal.isSameStretch(at(200), length(90, 150), at(200), length(30, 90)));
        assertTrue(timeline(300, 1.05).isSameStretch(at(200), length(30, 90), at(210), length(90, 150)));
    }

    @Test
    void nothingTookLongerThanAllThatBothDid() {
        SharedTimeline twice = timeline(100, 2);
        assertFalse(twice.isSameStretch(at(80), length(80.5, 81.5), at(160), length(160, 164)));
        assertTrue(twice.isSameStretch(at(80), length(30, 90), at(160), length(150, 210)));
        assertFalse(twice.isSameStretch(at(80), length(30, 90), at(160), length(160, 164)));
        SharedTimeline none = new SharedTimeline(List.of());
        assertFalse(none.isSameStretch(at(1), length(0, 1), at(1), length(0, 1)));
        assertNull(none.offsets());
    }
}
