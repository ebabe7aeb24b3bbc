package blackbox.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchReportTest {
    @TempDir
    Path folder;

    @Test
    void writesTheFormOfTheContractAndKeepsWhatWasNotMeasuredAgain() throws IOException {
        Path file = folder.resolve("results.json");
        BenchReport.open(file).add(BenchResult.of("serve-ready", 900, "ms"));
        BenchReport.open(file)
                .add(BenchResult.of("seal", 2.0e6, "events/s")
                        .withGoal(new Goal.AtLeastOfBeside(0.6))
                        .beside("openssl", 4.0e6)
                        .withNote("limited by the hash"));
        assertEquals("""
                [
                  {"name":"serve-ready","value":900.0,"unit":"ms","goal":null,"met":null,"beside":null},
                  {"name":"seal","value":2000000.0,"unit":"events/s","goal":"at least 0.6 of openssl","met":false,"beside":{"name":"openssl","value":4000000.0},"note":"limited by the hash"}
                ]
                """, Files.readString(file));
    }

    @Test
    void aGoalIsMetAtItsLimit() {
        assertEquals(
                true,
                BenchResult.of("help-time", 150, "ms")
                        .withGoal(new Goal.AtMost(150))
                        .met());
        assertEquals(
                false,
                BenchResult.of("help-time", 150.1, "ms")
                        .withGoal(new Goal.AtMost(150))
                        .met());
        assertEquals(
                true,
                BenchResult.of("verify", 1e6, "events/s")
                        .withGoal(new Goal.AtLeast(1e6))
                        .met());
        assertEquals(
                false,
                BenchResult.of("seal", 1e6, "events/s")
                        .withGoal(new Goal.AtLeastOfBeside(0.6))
                        .met());
    }

    @Test
    void whatIsNoNumberIsNoResult() {
        assertThrows(IllegalArgumentException.class, () -> BenchResult.of("seal", Double.NaN, "events/s"));
    }

    @Test
    void readsOpensslsFigure() throws IOException {
        String output = "+DT:sha256:1:191\n+R:2298246:sha256:1.000000\n+H:191\n+F:25:sha256:438964986.00\n";
        assertEquals(438964986.0, OpensslSpeed.bytesPerSecond(output));
    }
}
