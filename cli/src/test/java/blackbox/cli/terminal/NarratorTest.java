package blackbox.cli.terminal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Nobody waits longer than the limit without a message, and every message is true.
class NarratorTest {
    private final List<String> said = new ArrayList<>();
    private long now = 1_000_000_000L;
    private final Narrator narrator = new Narrator(said::add, Duration.ofSeconds(8), () -> now);

    @Test
    void silenceIsBrokenWithWhatIsRunningAndForHowLong() {
        narrator.phase("image", "building");
        narrator.say("fetching 155 packages");
        pass(7_999);
        assertEquals(2, said.size());
        pass(1);
        assertEquals("   … 8 s so far: fetching 155 packages", said.getLast());
        pass(8_000);
        assertEquals("   … 16 s so far: fetching 155 packages", said.getLast());
        pass(56_000);
        assertEquals("   … 1 min 12 s so far: fetching 155 packages", said.getLast());
    }

    @Test
    void aLineRestartsTheClock() {
        narrator.phase("record", "an agent");
        pass(6_000);
        narrator.say("the agent works");
        pass(6_000);
        assertEquals("the agent works", said.getLast());
    }

    @Test
    void nothingIsSaidWhileTheAgentHasTheTerminal() {
        narrator.say("tier exact");
        narrator.fallSilent();
        pass(60_000);
        assertEquals(List.of("tier exact"), said);
    }

    @Test
    void phasesAreTimedFromOneToTheNext() {
        narrator.phase("image", "building");
        pass(90_000);
        narrator.phase("record", "an agent");
        pass(12_400);
        narrator.close();
        assertEquals(List.of("image 1 min 30 s", "record 12 s"), text(narrator.phases()));
    }

    private static List<String> text(List<Narrator.Phase> phases) {
        return phases.stream().map(Narrator.Phase::toString).toList();
    }

    private void pass(long millis) {
        now += millis * 1_000_000;
        narrator.breakSilence();
    }
}
