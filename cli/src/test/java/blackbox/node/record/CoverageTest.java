package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.SystemCalls.Line;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every system call of the guest's kernel makes the events that `docs/COVERAGE.md` names for it, and no others.
final class CoverageTest {

    private static final Path RESOURCES = Path.of("src/test/resources/coverage");
    private static final String TABLE = "system-calls.tsv";
    private static final String PROGRAM = "calls.py";
    private static final Path PAGE = Path.of("../docs/COVERAGE.md");
    private static final Path MADE = Path.of("target/COVERAGE.md");

    /// As in `calls.py`.
    private static final String BEGIN = "/coverage-begin-";

    private static final String END = "/coverage-end-";

    private static final String MORE = "MORE";

    /// Told when a file or connection is closed, or some seconds later: after the call, and maybe after its process.
    private static final Set<String> TOLD_LATER = Set.of("file.io", "net.flow");

    /// Compared by what was done, too.
    private static final Set<String> SAYING_WHAT = Set.of("privilege.use", "file.allocate");

    /// Told before the call has come to anything.
    private static final String BEFORE_ITS_RESULT = "net.syn";

    /// Of a connection that is not waited for.
    private static final int IN_PROGRESS = -115;

    private static final String[] NOTHING = {"nothing"};

    @TempDir
    Path folder;

    @Test
    void thePageSaysWhatTheTableSays() throws Exception {
        String made = SystemCalls.in(RESOURCES.resolve(TABLE)).page();
        Files.createDirectories(MADE.getParent());
        Files.writeString(MADE, made);
        assertEquals(made, Files.exists(PAGE) ? Files.readString(PAGE) : "", "to renew it: cp cli/" + MADE + " docs/");
    }

    @Test
    void eachCallMakesTheEventsThatAreNamedForIt() throws Exception {
        List<Line> lines = SystemCalls.in(RESOURCES.resolve(TABLE)).lines();
        Path workspace = Files.createDirectory(folder.resolve("calls"));
        for (String each : List.of(TABLE, PROGRAM)) {
            Files.copy(RESOURCES.resolve(each), workspace.resolve(each));
        }
        Installation blackbox = Installation.in(folder);
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--user",
                        "root",
                        "--workspace",
                        workspace.toString(),
                        "--",
                        "python3",
                        "/workspace/" + PROGRAM)
                .expect(0);
        assertEquals(0, ended.recorded().path("lost").asInt());
        String run = ended.recorded().path("run").asText();
        Map<Integer, List<JsonNode>> seen = attributed(blackbox.events(run));
        Map<Integer, String[]> told = results(ended.out());
        var wrong = new ArrayList<String>();
        for (int i = 0; i < lines.size(); i++) {
            wrong.addAll(differences(lines.get(i), told.getOrDefault(i, NOTHING), seen.getOrDefault(i, List.of())));
        }
        String more = ended.out().lines().toList().getLast();
        if (!more.equals(MORE)) {
            wrong.add("calls of the kernel that are not in the table: " + more);
        }
        assertEquals("", String.join("\n", wrong));
    }

    private static Map<Integer, String[]> results(String printed) {
        var results = new HashMap<Integer, String[]>();
        printed.lines()
                .filter(line -> !line.startsWith(MORE))
                .map(line -> line.split(" ", 2))
                .forEach(words -> results.put(Integer.valueOf(words[0]), words[1].split(" ")));
        return results;
    }

    private static List<String> differences(Line line, String[] told, List<JsonNode> seen) {
        String call = line.table() + " " + line.number() + " " + line.name() + " (" + line.call() + "): ";
        if (!told[0].equals(line.result())) {
            return List.of(call + line.result() + " wanted, was " + String.join(" ", told));
        }
        var wrong = new ArrayList<String>();
        Set<String> kinds = new TreeSet<>();
        seen.forEach(event -> kinds.add(kind(event)));
        if (!kinds.equals(line.events())) {
            wrong.add(call + line.events() + " wanted, were " + kinds);
        }
        long error = -Long.parseLong(told[1]);
        for (JsonNode event : seen) {
            long ret = event.path("ret").asLong();
            boolean hasResult = event.has("ret") && !kind(event).equals(BEFORE_ITS_RESULT);
            if (hasResult && Math.min(ret, 0) != error && ret != IN_PROGRESS) {
                wrong.add(call + kind(event) + " has ret " + ret + " instead of " + error);
            }
        }
        return wrong;
    }

    private static String kind(JsonNode event) {
        String kind = event.path("kind").asText();
        return SAYING_WHAT.contains(kind) && event.has("what")
                ? kind + " " + event.path("what").asText()
                : kind;
    }

    /// What a process did since it said that it begins with a line.
    private static final class Caller {
        final List<JsonNode> seen;
        boolean calls = true;

        Caller(List<JsonNode> seen) {
            this.seen = seen;
        }
    }

    /// The events that belong to each line, by its position.
    private static Map<Integer, List<JsonNode>> attributed(List<JsonNode> events) {
        var byLine = new HashMap<Integer, List<JsonNode>>();
        var callers = new HashMap<Integer, Caller>();
        for (JsonNode event : events) {
            JsonNode process = event.path("process");
            if (!process.has("pid") || !event.path("source").asText().equals("guest")) {
                continue;
            }
            int pid = process.path("pid").asInt();
            String path = event.path("path").asText();
            if (path.startsWith(BEGIN) && Character.isDigit(path.charAt(BEGIN.length()))) {
                int line = Integer.parseInt(path.substring(BEGIN.length()));
                var caller = new Caller(new ArrayList<>());
                callers.put(pid, caller);
                byLine.put(line, caller.seen);
                continue;
            }
            Caller caller = callers.get(pid);
            if (event.path("kind").asText().equals("process.fork")) {
                Caller parent = callers.get(process.path("ppid").asInt());
                caller = parent != null && parent.calls ? new Caller(parent.seen) : null;
                callers.put(pid, caller);
            }
            if (caller != null && path.startsWith(END)) {
                caller.calls = false;
            } else if (caller != null
                    && (caller.calls || TOLD_LATER.contains(event.path("kind").asText()))) {
                caller.seen.add(event);
            }
        }
        assertTrue(byLine.size() > 300, () -> "begun: " + byLine.keySet());
        return byLine;
    }
}
