package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// A table of what guests try, each with the real policy, the real gateway and a real record: what the guest hears, all
/// that got out (everything that leaves the gateway comes to one place, which keeps it), what is in the record, and
/// that the record's decisions, evaluated again without anything else, are the same.
class PolicyTableTest {
    private static final List<String> GROUPS = List.of(
            "names",
            "methods",
            "paths",
            "misdirected",
            "addresses",
            "rebinding",
            "dns",
            "tunnels",
            "tls",
            "http",
            "smuggling",
            "websockets",
            "http2",
            "frames",
            "observe");

    private static final int CASES_MIN = 200;

    /// Most of a case is the second that a closed connection waits.
    private static final int AT_ONCE = 8;

    /// What may have left, or not, before something after it was refused.
    private static final Pattern MAY_BE = Pattern.compile("\\{\\?([^}]*)}");

    @TempDir
    static Path folder;

    private static final Map<String, List<TableCase>> TABLE = new HashMap<>();
    private static final Map<String, Future<Outcome>> OUTCOMES = new HashMap<>();
    private static int agreed;
    private static int gatewaysOwn;

    private record Outcome(TableRun.Told told, Reevaluation again) {}

    @BeforeAll
    static void begin() {
        var random = Seeded.random("policy table");
        try (ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
            for (String group : GROUPS) {
                List<TableCase> cases = TableCase.read("cases/" + group);
                TABLE.put(group, cases);
                for (TableCase each : cases) {
                    long seed = random.nextLong();
                    OUTCOMES.put(each.id(), threads.submit(() -> outcome(each, seed)));
                }
            }
        }
    }

    private static Outcome outcome(TableCase each, long seed) throws Exception {
        var run = new TableRun(each, Files.createTempDirectory(folder, "case"));
        return new Outcome(run.run(seed), run.again());
    }

    private static List<TableCase> cases(String group) {
        return Objects.requireNonNull(TABLE.get(group));
    }

    @TestFactory
    Stream<DynamicContainer> table() {
        return GROUPS.stream()
                .map(group -> DynamicContainer.dynamicContainer(
                        group,
                        cases(group).stream().map(each -> DynamicTest.dynamicTest(each.id(), () -> holds(each)))));
    }

    private static void holds(TableCase each) throws Exception {
        Outcome outcome;
        try {
            outcome = Objects.requireNonNull(OUTCOMES.get(each.id())).get();
        } catch (ExecutionException e) {
            throw new AssertionError(each.toString(), e.getCause());
        }
        var expected = new TableRun.Told(String.valueOf(each.text("hears")), each.outside(), each.record()).text();
        String told = outcome.told().text();
        if (!MAY_BE.matcher(expected).replaceAll("").equals(told)) {
            assertEquals(MAY_BE.matcher(expected).replaceAll("$1"), told, each::toString);
        }
        assertEquals(List.of(), outcome.again().differing(), each + ": evaluated again, its record says otherwise");
        agreed += outcome.again().agreed();
        gatewaysOwn += outcome.again().gatewaysOwn();
    }

    @Test
    void theTableIsWhole() {
        var ids = new HashSet<String>();
        int count = 0;
        int allowed = 0;
        for (String group : GROUPS) {
            int through = 0;
            for (TableCase each : cases(group)) {
                assertTrue(ids.add(each.id()), "twice: " + each);
                through += each.outside().stream().anyMatch(PolicyTableTest::says) ? 1 : 0;
            }
            System.out.println(
                    group + ": " + cases(group).size() + " cases, of which " + through + " say something outside");
            count += cases(group).size();
            allowed += through;
        }
        System.out.println("in all " + count + " cases, " + allowed + " say something outside");
        assertTrue(count >= CASES_MIN && allowed >= CASES_MIN / 4, count + " cases, " + allowed);
    }

    private static boolean says(String line) {
        return line.endsWith("\"") && !line.endsWith(" \"\"");
    }

    @AfterAll
    static void sum() {
        System.out.println(agreed + " decisions agree when they are evaluated again, and " + gatewaysOwn
                + " are refusals of the gateway's own");
    }
}
