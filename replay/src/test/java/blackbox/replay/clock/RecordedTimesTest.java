package blackbox.replay.clock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.EventSink;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Row;
import java.util.ArrayList;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RecordedTimesTest {
    private static final int DEEDS = 1_000;

    private final long[] recorded = TimedRun.times(DEEDS);
    private final Row row = new Row();

    private OptionalLong of(RecordedTimes times, Event event) throws Exception {
        EventRows.fill(event, row);
        return times.of(row);
    }

    @Test
    void eachEventIsFoundWhateverNumbersItsProcessesHave() throws Exception {
        var replay = new TimedRun(7);
        try (var times = new RecordedTimes(TimedRun.recorded(recorded).source(), new KeyedHash(3), 50)) {
            for (int i = 0; i < DEEDS; i++) {
                assertEquals(OptionalLong.of(recorded[i]), of(times, replay.deed(i, i)), "deed " + i);
            }
        }
    }

    @Test
    void whatTheRecordingDoesNotHaveIsNotFound() throws Exception {
        var replay = new TimedRun(7);
        try (var times = new RecordedTimes(TimedRun.recorded(recorded).source(), new KeyedHash(3), 50)) {
            for (int i = 0; i < DEEDS; i++) {
                assertEquals(OptionalLong.of(recorded[i]), of(times, replay.deed(i, i)), "deed " + i);
                assertTrue(of(times, replay.other(i)).isEmpty());
            }
        }
    }

    @Test
    void eventsThatComeInOtherTurnsAreFound() throws Exception {
        var replay = new TimedRun(7);
        for (int i = 0; i < DEEDS; i++) {
            replay.deed(i, i);
        }
        try (var times = new RecordedTimes(TimedRun.recorded(recorded).source(), new KeyedHash(3), 50)) {
            for (int i = 0; i < DEEDS; i += 10) {
                assertEquals(OptionalLong.of(recorded[i]), of(times, replay.events.get(i)));
                for (int j = i + 9; j > i; j--) {
                    assertEquals(OptionalLong.of(recorded[j]), of(times, replay.events.get(j)), "deed " + j);
                }
            }
        }
    }

    @Test
    void onlyAWindowOfTheRecordingIsSearched() throws Exception {
        var later = new TimedRun(1);
        for (int i = 0; i < 200; i++) {
            later.other(i);
        }
        later.deed(0, recorded[0]);
        try (var near = new RecordedTimes(later.source(), new KeyedHash(3), 50);
                var far = new RecordedTimes(later.source(), new KeyedHash(3), 500)) {
            var replay = new TimedRun(7);
            Event first = replay.other(0);
            Event fork = replay.deed(0, 1);
            assertEquals(OptionalLong.of(0), of(near, first));
            assertEquals(OptionalLong.of(0), of(far, first));
            assertTrue(of(near, fork).isEmpty());
            assertEquals(OptionalLong.of(recorded[0]), of(far, fork));
        }
    }

    /// Whoever sends events never waits for the clock, and a guest that sends too many loses only that.
    @Test
    void eventsNeverWaitForTheClock() throws Exception {
        var passed = new ArrayList<Event>();
        var replay = new TimedRun(7);
        EventSink next = passed::add;
        try (var follower = new ClockFollower(TimedRun.recorded(recorded).source(), next)) {
            for (int i = 0; i < 40_000; i++) {
                follower.accept(replay.deed(i, i));
            }
            follower.follow((forwardNs, pace) -> {
                throw new AssertionError("what is counted is not all");
            });
        }
        assertEquals(replay.events, passed);
    }
}
