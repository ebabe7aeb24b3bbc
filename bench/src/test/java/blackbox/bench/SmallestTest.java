package blackbox.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Launcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every benchmark that needs no VM measures something at the smallest scale, with the same code as at full scale.
/// Of those that start VMs, one is run here, on the image that all tests share. The others together would take many
/// minutes where the guest is emulated: only `make bench SCALE=smallest`, which CI does not run, covers them.
class SmallestTest {

    @BeforeAll
    static void theScaleIsTheSmallest() {
        assertEquals(Scale.SMALLEST, Scale.CURRENT, "the module's POM sets it");
        assertTrue(
                Files.isExecutable(Launcher.PATH), () -> "not run in the project's root, there is no " + Launcher.PATH);
    }

    static Stream<Benchmark> withoutVm() {
        return Bench.SUITE.stream().filter(benchmark -> !(benchmark instanceof VmBenchmark));
    }

    /// A benchmark that is not in the suite runs nowhere: neither here nor in `make bench`.
    @Test
    void noBenchmarkIsForgotten() throws Exception {
        Path classes = Path.of(
                Bench.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        var written = new TreeSet<String>();
        try (Stream<Path> files = Files.list(classes.resolve("blackbox/bench"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".class")).toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                Class<?> type = Class.forName("blackbox.bench." + name);
                if (Benchmark.class.isAssignableFrom(type) && !type.isInterface()) {
                    written.add(name);
                }
            }
        }
        assertEquals(
                written,
                Bench.SUITE.stream()
                        .map(benchmark -> benchmark.getClass().getSimpleName())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @ParameterizedTest
    @MethodSource("withoutVm")
    void itMeasures(Benchmark benchmark) throws Exception {
        String missing = benchmark.missing();
        assumeTrue(missing == null, () -> benchmark.name() + " cannot be measured here: " + missing);
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
            assertTrue(
                    result.beside() != null || result.alone() != null,
                    () -> result.name() + " has neither a limit measured beside it nor a reason why there is none");
            assertFalse(isOfBeside(result.goal()) && result.beside() == null, result.line());
        }
    }

    private static boolean isOfBeside(@Nullable Goal goal) {
        return goal instanceof Goal.AtLeastOfBeside || goal instanceof Goal.AtMostOverBeside;
    }
}
