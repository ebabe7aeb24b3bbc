package blackbox.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchReportTest {
    private static final Machine MACHINE = new Machine("a processor", 2, "TCG", 0.5);

    @TempDir
    Path folder;

    @Test
    void writesTheFormOfTheContractAndKeepsWhatWasNotMeasuredAgain() throws IOException {
        Path file = folder.resolve("results.json");
        BenchReport.open(file).add(BenchResult.of("verifier-size", 4, "MiB").alone("a size"), MACHINE);
        BenchReport.open(file)
                .add(
                        BenchResult.of("seal", 2.0e6, "events/s")
                                .withGoal(new Goal.AtLeastOfBeside(0.6))
                                .beside("openssl", 4.0e6)
                                .withNote("limited by the hash"),
                        MACHINE);
        assertEquals("""
                [
                  {"name":"verifier-size","value":4.0,"unit":"MiB","goal":null,"met":null,"beside":null,"alone":"a size","machine":{"cpu":"a processor","cores":2,"accelerator":"TCG","loadAtStart":0.5}},
                  {"name":"seal","value":2000000.0,"unit":"events/s","goal":"at least 0.6 of openssl","met":false,"beside":{"name":"openssl","value":4000000.0},"machine":{"cpu":"a processor","cores":2,"accelerator":"TCG","loadAtStart":0.5},"note":"limited by the hash"}
                ]
                """, Files.readString(file));
    }

    @Test
    void aFigureNamesTheMachineItWasMeasuredOn() throws IOException {
        Machine machine = Machine.now();
        assertFalse(machine.cpu().isEmpty());
        assertEquals(Runtime.getRuntime().availableProcessors(), machine.cores());
        assertTrue(List.of("KVM", "TCG", "untried").contains(machine.accelerator()), machine.accelerator());
        assertTrue(machine.loadAtStart() >= 0, "Linux reports its load");
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
    void aGoalOverWhatIsBesideIsOfTheDifference() {
        BenchResult of = BenchResult.of("gateway-p50", 4, "ms").withGoal(new Goal.AtMostOverBeside(1));
        assertEquals(true, of.beside("direct", 3).met());
        assertEquals(false, of.beside("direct", 2.9).met());
        assertEquals(true, of.beside("direct", 9).met(), "noise can make the way through faster");
        assertEquals(false, of.met(), "nothing was measured beside it");
    }

    @Test
    void whatIsNotANumberIsNotAResult() {
        assertThrows(IllegalArgumentException.class, () -> BenchResult.of("seal", Double.NaN, "events/s"));
    }
}
