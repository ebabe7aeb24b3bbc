package blackbox.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WatchdogTest {
    private long now = 1_000;

    private final Watchdog dog = new Watchdog(Duration.ofSeconds(10), "instruction", () -> now);

    private void pass(long seconds) {
        now += Duration.ofSeconds(seconds).toNanos();
    }

    @Test
    void aCounterThatMovesIsLeftAlone() {
        for (long counter = 0; counter < 100; counter++) {
            assertNull(dog.see(counter));
            pass(9);
        }
    }

    @Test
    void aCounterThatStandsStillIsReportedWithItsPlace() {
        assertNull(dog.see(42));
        pass(9);
        assertNull(dog.see(42));
        pass(1);
        assertEquals("it has made no progress for 10 s, at instruction 42", dog.see(42));
        assertNull(dog.see(43), "it has moved after all");
        pass(9);
        assertNull(dog.see(43));
    }

    @Test
    void oneThatNeverAnswersIsReportedToo() {
        pass(9);
        assertNull(dog.miss());
        pass(2);
        assertEquals("it has made no progress for 11 s, from the start", dog.miss());
        assertNull(dog.see(1));
        pass(10);
        assertEquals("it has made no progress for 10 s, at instruction 1", dog.miss());
    }

    @Test
    void goingBackIsMovingToo() {
        assertNull(dog.see(5));
        pass(10);
        assertNull(dog.see(4), "a replay that was set back to an earlier snapshot");
    }

    @Test
    void aLimitOfNothingIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Watchdog(Duration.ZERO, "instruction", () -> 0));
    }
}
