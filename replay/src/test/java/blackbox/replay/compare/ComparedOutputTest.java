package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.run.RunState;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.compare.ComparedOutput.Began;
import blackbox.replay.output.KeptRun;
import blackbox.replay.output.RecordedOutput;
import blackbox.replay.output.ReplayedOutput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What was printed is compared as far as both sides have it, and what is left out is said.
class ComparedOutputTest {
    private static final PrintedStream OUT = PrintedStream.STDOUT;
    private static final PrintedStream ERR = PrintedStream.STDERR;

    @TempDir
    Path folder;

    private KeptRun run;
    private ReplayedOutput replayed;

    @BeforeEach
    void begin() throws Exception {
        run = new KeptRun(folder, 50);
        run.print(OUT, "one\n");
        run.print(ERR, "warning\n");
        run.print(OUT, "two\n");
        replayed = ReplayedOutput.in(folder.resolve("cache"));
        replayed.keep(1 << 20, () -> 1);
    }

    @AfterEach
    void end() throws Exception {
        replayed.close();
        run.close();
        try (var left = Files.list(folder.resolve("cache"))) {
            assertEquals(0, left.count(), "nothing of the replay is left");
        }
    }

    private void replay(PrintedStream stream, String text) throws Exception {
        replayed.through(stream).write(text.getBytes(StandardCharsets.UTF_8));
    }

    private ComparedOutput compare(boolean byItself) throws Exception {
        return compare(byItself, "{\"stdout\":{\"bytes\":8,\"ended\":true},\"stderr\":{\"bytes\":8,\"ended\":true}}");
    }

    private ComparedOutput compare(boolean byItself, String close) throws Exception {
        return ComparedOutput.of(
                new RecordedOutput(KeptRun.facts(RunState.CLOSED, close), run.captures()),
                ComparedOutput.Other.of(replayed, byItself),
                Began.UNKNOWN,
                (_, _) -> false);
    }

    private static void assertDiffers(ComparedOutput found, PrintedStream stream, long octet) {
        var difference =
                Objects.requireNonNull(Objects.requireNonNull(found.differs()).difference());
        assertEquals(stream, difference.stream());
        assertEquals(octet, difference.octet());
    }

    @Test
    void equalOutputIsCompared() throws Exception {
        replay(ERR, "war");
        replay(OUT, "one\ntwo\n");
        replay(ERR, "ning\n");
        ComparedOutput found = compare(true);
        assertEquals(List.of("standard output, 8 octets", "standard error, 8 octets"), found.compared());
        assertEquals(List.of(), found.notCompared());
        assertNull(found.differs());
    }

    @Test
    void ofTwoDifferencesTheOneThatWasPrintedFirstCounts() throws Exception {
        replay(OUT, "one\ntwx\n");
        replay(ERR, "worning\n");
        ComparedOutput found = compare(true);
        assertDiffers(found, ERR, 1);
        assertEquals(2_000, Objects.requireNonNull(found.where()).atNs());
        assertEquals(List.of(), found.compared());
    }

    @Test
    void moreThanWasRecordedDiffersWithoutAPlace() throws Exception {
        replay(OUT, "one\ntwo\nthree\n");
        replay(ERR, "warning\n");
        ComparedOutput found = compare(true);
        assertDiffers(found, OUT, 8);
        assertNull(found.where());
    }

    @Test
    void aStreamThatIsMissingDiffers() throws Exception {
        replay(OUT, "one\ntwo\n");
        assertDiffers(compare(true), ERR, 0);
    }

    /// A command that was ended would have printed more; what it did print must agree.
    @Test
    void ofACommandThatWasEndedTheBeginningCounts() throws Exception {
        replay(OUT, "one\n");
        ComparedOutput found = compare(false);
        assertNull(found.differs());
        assertEquals(
                List.of("standard output, its first 4 octets", "standard error, its first 0 octets"), found.compared());
        assertTrue(found.notCompared().getFirst().contains("after 4 octets: the replay was ended"));
        replayed.close();
        replayed = ReplayedOutput.in(folder.resolve("cache"));
        replayed.keep(1 << 20, () -> 1);
        replay(OUT, "onx");
        assertDiffers(compare(false), OUT, 2);
    }

    /// A recording that was cut would go on.
    @Test
    void ofARecordingThatWasCutTheBeginningCounts() throws Exception {
        String more = "0123456789".repeat(6);
        run.print(OUT, more);
        replay(OUT, "one\ntwo\n" + more);
        replay(ERR, "warning\n");
        String close = "{\"stdout\":{\"bytes\":68,\"ended\":true},\"stderr\":{\"bytes\":8,\"ended\":true}}";
        ComparedOutput found = compare(true, close);
        assertNull(found.differs(), found::toString);
        assertEquals("standard error, 8 octets", found.compared().getLast());
        // A piece counts as 20 octets at least.
        assertEquals("standard output, its first 18 octets", found.compared().getFirst());
        assertTrue(found.notCompared().getFirst().contains("only the first 18 bytes are kept, of 68"));
        replayed.close();
        replayed = ReplayedOutput.in(folder.resolve("cache"));
        replayed.keep(1 << 20, () -> 1);
        replay(OUT, "one\n");
        replay(ERR, "warning\n");
        assertDiffers(compare(true, close), OUT, 4);
    }

    @Test
    void withoutARecordedOutputThereIsNothingToCompare() throws Exception {
        replay(OUT, "anything");
        var none = new RecordedOutput(KeptRun.facts(RunState.CLOSED, "{}", "{}"), Map.of());
        assertEquals(0, ComparedOutput.bytesNeeded(none));
        ComparedOutput found =
                ComparedOutput.of(none, ComparedOutput.Other.of(replayed, true), Began.UNKNOWN, (_, _) -> false);
        assertNull(found.differs());
        assertEquals(List.of(), found.compared());
        assertTrue(found.notCompared().getFirst().startsWith("what the command printed: run "), found::toString);
    }

    @Test
    void recordedOutputThatWasAlteredIsRefused() throws Exception {
        var recorded = new RecordedOutput(KeptRun.facts(RunState.CLOSED, "{}"), run.captures());
        assertNull(ComparedOutput.refusal(recorded));
        Path file = KeptRun.file(folder, ERR);
        byte[] octets = Files.readAllBytes(file);
        octets[octets.length - 2] ^= 1;
        Files.write(file, octets);
        assertTrue(
                Objects.requireNonNull(ComparedOutput.refusal(recorded)).what().contains("stderr"));
        Files.delete(file);
        assertNotNull(ComparedOutput.refusal(recorded));
    }

    /// In whatever pieces a replay prints it, as much is kept as there is to compare.
    @Test
    void enoughIsKept() throws Exception {
        var recorded = new RecordedOutput(KeptRun.facts(RunState.CLOSED, "{}"), run.captures());
        replayed.keep(ComparedOutput.bytesNeeded(recorded), () -> 1);
        for (char each : "one\ntwo\n".toCharArray()) {
            replay(OUT, String.valueOf(each));
        }
        replay(ERR, "warning\n");
        assertNull(compare(true).differs());
    }
}
