package blackbox.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Launcher;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every benchmark that needs no VM measures something at its smallest scale: the code is that of the whole. Of those
/// that start VMs one does so here, on the image that all tests share; `make bench SCALE=smallest` runs the others
/// too, which takes minutes.
class SmallestTest {

    @BeforeAll
    static void theScaleIsTheSmallest() {
        assertEquals(Scale.SMALLEST, Scale.CURRENT, "the module's POM sets it");
        assertTrue(
                Files.isExecutable(Launcher.PATH), () -> "not run in the project's root, there is no " + Launcher.PATH);
    }

    static Stream<Benchmark> withoutVm() {
        return Bench.WITHOUT_VM.stream();
    }

    @ParameterizedTest
    @MethodSource("withoutVm")
    void itMeasures(Benchmark benchmark) throws Exception {
        assertMeasures(benchmark);
    }

    @Test
    void oneThatStartsAVmMeasures() throws Exception {
        assertMeasures(new FirstInstruction(FirstInstruction.Start.WARM));
    }

    private static void assertMeasures(Benchmark benchmark) throws Exception {
        List<BenchResult> results = benchmark.run();
        assertFalse(results.isEmpty(), benchmark.name());
        for (BenchResult result : results) {
            assertTrue(result.value() > 0, result.line());
            assertFalse(result.goal() instanceof Goal.AtLeastOfBeside && result.beside() == null, result.line());
        }
    }
}
