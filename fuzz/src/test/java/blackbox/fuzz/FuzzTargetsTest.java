package blackbox.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/// Each target with its seeds, and with every input that once broke it, without a fuzzer.
@TestInstance(Lifecycle.PER_CLASS)
class FuzzTargetsTest {
    private static final Path MODULE = Path.of("");
    private static final Duration INPUT_TIME_MAX = Duration.ofSeconds(5);

    /// Where a target's seeds are damaged.
    private static final int PLACES = 24;

    /// By target; some take a tool to make.
    private final Map<String, Map<String, byte[]>> made = new HashMap<>();

    @TestFactory
    Stream<DynamicTest> seedsGetIn() {
        return FuzzTargets.all().stream()
                .map(target -> DynamicTest.dynamicTest(target.name(), () -> {
                    Map<String, byte[]> seeds = seeds(target);
                    assertFalse(seeds.isEmpty());
                    for (Map.Entry<String, byte[]> seed : seeds.entrySet()) {
                        assertTrue(seed.getValue().length <= target.inputBytesMax(), seed.getKey() + " is too long");
                        assertTrue(
                                assertTimeoutPreemptively(
                                        INPUT_TIME_MAX, () -> Execution.accepts(target, seed.getValue())),
                                () -> seed.getKey() + " is not accepted");
                    }
                }));
    }

    /// Prefixes and single octets that are not as they were: what a fuzzer tries first.
    @TestFactory
    Stream<DynamicTest> damagedSeedsAreRefusedAsDeclared() {
        return FuzzTargets.all().stream()
                .map(target -> DynamicTest.dynamicTest(target.name(), () -> {
                    Collection<byte[]> seeds = seeds(target).values();
                    for (byte[] seed : seeds) {
                        for (byte[] damaged : damages(seed, Math.max(2, PLACES / seeds.size()))) {
                            execute(target, damaged);
                        }
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> inputsThatWereFoundNoLongerBreakAnything() throws IOException {
        var tests = new ArrayList<DynamicTest>();
        for (FuzzTarget target : FuzzTargets.all()) {
            Inputs.of(MODULE, target.name())
                    .forEach((name, input) -> tests.add(
                            DynamicTest.dynamicTest(target.name() + "/" + name, () -> execute(target, input))));
        }
        return tests.stream();
    }

    @Test
    void everyFolderOfInputsIsATargets() throws IOException {
        Set<String> names = FuzzTargets.all().stream().map(FuzzTarget::name).collect(Collectors.toSet());
        assertEquals(FuzzTargets.all().size(), names.size(), "two targets of one name");
        try (Stream<Path> folders = Files.list(Inputs.folder(MODULE))) {
            Set<String> strangers =
                    folders.map(folder -> folder.getFileName().toString()).collect(Collectors.toSet());
            strangers.removeAll(names);
            assertEquals(Set.of(), strangers);
        }
    }

    private Map<String, byte[]> seeds(FuzzTarget target) throws Exception {
        Map<String, byte[]> seeds = made.get(target.name());
        if (seeds == null) {
            seeds = new TreeMap<>(target.seeds().make());
            made.put(target.name(), seeds);
        }
        return seeds;
    }

    private static void execute(FuzzTarget target, byte[] input) {
        boolean unused = assertTimeoutPreemptively(INPUT_TIME_MAX, () -> Execution.accepts(target, input));
    }

    private static List<byte[]> damages(byte[] seed, int places) {
        var damaged = new ArrayList<byte[]>();
        int step = Math.max(1, seed.length / places);
        for (int at = 0; at < seed.length; at += step) {
            damaged.add(Arrays.copyOf(seed, at));
            for (int octet : Set.of(0, 0x7f, 0xff)) {
                byte[] copy = seed.clone();
                copy[at] = (byte) octet;
                damaged.add(copy);
            }
        }
        return damaged;
    }
}
