package blackbox.replay.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.query.run.RunState;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.output.OutputLimit.Kind;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is known to be missing of a run's output is said, and nothing else.
class RecordedOutputTest {

    @TempDir
    Path folder;

    private static OutputLimit limit(RunState state, String close) throws Exception {
        return Objects.requireNonNull(nullable(state, close));
    }

    private static @Nullable OutputLimit nullable(RunState state, String close) throws Exception {
        return new RecordedOutput(KeptRun.facts(state, close), Map.of()).limit(PrintedStream.STDOUT, 4);
    }

    @Test
    void aClosedRunOfWhichAllIsSealedHasNoLimit() throws Exception {
        assertNull(nullable(
                RunState.CLOSED, "{\"stdout\":{\"bytes\":4,\"ended\":true},\"stderr\":{\"bytes\":9,\"ended\":true}}"));
        assertNull(nullable(RunState.OPEN, "{}"), "the state says that there may be more");
    }

    @Test
    void whatWasNotSealedIsSaid() throws Exception {
        assertEquals(Kind.UNSEALED, limit(RunState.TRUNCATED, "{}").kind());
        OutputLimit why = limit(
                RunState.CLOSED,
                "{\"stdout\":{\"bytes\":4,\"ended\":true},\"unsealed\":{\"stdout\":\"it could not be written: no room\"}}");
        assertEquals(Kind.UNSEALED, why.kind());
        assertTrue(why.text().endsWith("it could not be written: no room"), why.text());
        OutputLimit counted = limit(RunState.CLOSED, "{\"stdout\":{\"bytes\":5,\"ended\":true}}");
        assertTrue(counted.text().contains("after its first 4 bytes"), counted.text());
        assertEquals(PrintedStream.STDOUT, counted.stream());
    }

    @Test
    void whatWasCutIsSaid() throws Exception {
        try (var run = new KeptRun(folder, 30)) {
            run.print(PrintedStream.STDOUT, "0123456789012345678901234567890123456789");
            run.print(PrintedStream.STDERR, "short");
            var recorded = new RecordedOutput(
                    KeptRun.facts(
                            RunState.CLOSED,
                            "{\"stdout\":{\"bytes\":40,\"ended\":true},\"stderr\":{\"bytes\":5,\"ended\":true}}"),
                    run.captures());
            OutputLimit cut = Objects.requireNonNull(recorded.limit(PrintedStream.STDOUT, 30));
            assertEquals(Kind.CUT, cut.kind());
            assertEquals(
                    "of standard output only the first 30 bytes are kept, of 40 that were printed: `record --output-max`"
                            + " allowed no more",
                    cut.text());
            assertNull(recorded.limit(PrintedStream.STDERR, 5));
        }
    }

    @Test
    void aRunThatKeptNoneSaysHowToHaveIt() throws Exception {
        String recorder = "{\"recorder\":{\"version\":\"1\",\"key\":\"k\",\"certificate\":\"c\"%s}}";
        var old = new RecordedOutput(KeptRun.facts(RunState.CLOSED, recorder.formatted(""), "{}"), Map.of());
        OutputLimit none = Objects.requireNonNull(old.unkept());
        assertEquals(Kind.NOT_RECORDED, none.kind());
        assertTrue(none.text().contains("record it again"), none.text());
        var zero = new RecordedOutput(
                KeptRun.facts(RunState.CLOSED, recorder.formatted(",\"outputBytesMax\":0"), "{}"), Map.of());
        assertTrue(Objects.requireNonNull(zero.unkept()).text().contains("--output-max 64M"));
        var kept = new RecordedOutput(
                KeptRun.facts(RunState.CLOSED, recorder.formatted(",\"outputBytesMax\":1"), "{}"), Map.of());
        assertNull(kept.unkept());
    }
}
