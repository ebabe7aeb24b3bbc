package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A small build in a real VM: clone, edit, make, and a call to a service. No expectation is hard-coded: programs
/// are compared with strace in the same guest, files with the workspace that came back, the flow with the service.
class RecordedBuildTest {

    private static final int ANSWER_BYTES = 100_000;
    private static final String STRACE_LOG = "execs.log";
    private static final Pattern EXEC =
            Pattern.compile("(\\d+) +execve\\(\"[^\"]*\", \\[\"([^\"]*)\".*(= 0|<unfinished \\.\\.\\.>)");
    private static final Pattern RESUMED = Pattern.compile("(\\d+) +<\\.\\.\\. execve resumed>.*= 0");

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static Path workspace;
    private static JsonNode recorded;
    private static JsonNode touched;
    private static int port;
    private static long receivedBytes;
    private static long sentBytes;

    @BeforeAll
    static void record() throws Exception {
        blackbox = Installation.in(folder);
        workspace = Files.createDirectory(folder.resolve("workspace"));
        for (String file : List.of("build.sh", "Makefile", "words.txt")) {
            try (InputStream in = RecordedBuildTest.class.getResourceAsStream("/record/" + file)) {
                Files.copy(in, workspace.resolve(file));
            }
        }
        try (var service = new CountingService(ANSWER_BYTES)) {
            port = service.port();
            var strace = List.of("strace", "-f", "-qq", "-s", "9999", "-e", "trace=execve", "-o", STRACE_LOG);
            var arguments = new ArrayList<>(List.of("record", "--json", "--name", "a build", "--network", "user"));
            arguments.addAll(List.of("--workspace", workspace.toString(), "--"));
            arguments.addAll(strace);
            arguments.addAll(List.of("sh", "build.sh", Integer.toString(port)));
            recorded = blackbox.run(arguments.toArray(String[]::new)).expect(0).recorded();
            receivedBytes = service.received();
            sentBytes = service.sent();
        }
        touched = blackbox.run("touched", "a build", "--json").expect(0).json();
    }

    @Test
    void theRunIsClosedAndVerifies() throws Exception {
        assertEquals("CLOSED", recorded.path("state").asText());
        assertEquals(0, recorded.path("exitCode").asInt(-1));
        assertEquals(0, recorded.path("lost").asLong(-1));
        JsonNode verification =
                blackbox.run("verify", "a build", "--json").expect(0).json();
        assertEquals("VERIFIED", verification.path("integrity").asText());
        assertEquals("COMPLETE", verification.path("completeness").asText());
        assertEquals(
                recorded.path("events").asLong(), verification.path("events").asLong());
        assertTrue(verification.path("authorship").path("trusted").asBoolean());
    }

    /// The tracer's last count covers everything: the last thing that the guest does is hand over its workspace.
    @Test
    void theLastCountIsTakenWhenTheGuestHasNothingLeftToDo() throws Exception {
        List<JsonNode> events = new ArrayList<>();
        for (String line : blackbox.run("events", "a build", "--json")
                .expect(0)
                .out()
                .lines()
                .toList()) {
            events.add(new ObjectMapper().readTree(line));
        }
        List<JsonNode> told = events.stream()
                .filter(event -> event.path("source").asText().equals("guest"))
                .toList();
        JsonNode last = told.stream()
                .filter(event -> !event.path("kind").asText().equals("tracer.heartbeat"))
                .toList()
                .getLast();
        assertEquals("process.exit", last.path("kind").asText(), last::toString);
        assertEquals("tar", last.path("process").path("comm").asText(), last::toString);
        assertTrue(
                told.stream()
                        .filter(event -> event.path("index").asLong()
                                > last.path("index").asLong())
                        .anyMatch(event -> event.path("detail").path("final").asBoolean()),
                last::toString);
    }

    @Test
    void theWorkspaceComesBackAsACopy() throws IOException {
        assertEquals("a\nb\nhowdy\n", Files.readString(back().resolve("build/out/sorted.txt")));
        assertEquals(ANSWER_BYTES, Files.size(back().resolve("build/answer.txt")));
        try (Stream<Path> mine = Files.list(workspace)) {
            assertEquals(3, mine.count(), "files of the folder that went in");
        }
    }

    @Test
    void touchedNamesEveryProgramThatStraceSaw() throws IOException {
        Map<String, Long> straced = straced(Files.readAllLines(back().resolve(STRACE_LOG)));
        assertTrue(straced.keySet().containsAll(Set.of("git", "make", "sed", "curl", "mv", "rm")), straced::toString);
        Map<String, Long> named = each(touched.path("processes"))
                .filter(process -> !process.path("argv").path(0).asText().equals("strace"))
                .collect(Collectors.groupingBy(
                        process -> process.path("argv").path(0).asText(), TreeMap::new, Collectors.counting()));
        straced.forEach((program, times) -> assertTrue(
                named.getOrDefault(program, 0L) >= times,
                () -> program + " was executed " + times + " times; named are " + named));
    }

    /// Successful execs by argv[0].
    private static Map<String, Long> straced(List<String> lines) {
        var unfinished = new HashMap<String, String>();
        var programs = new ArrayList<String>();
        for (String line : lines) {
            Matcher exec = EXEC.matcher(line);
            Matcher resumed = RESUMED.matcher(line);
            if (exec.matches() && exec.group(3).equals("= 0")) {
                programs.add(exec.group(2));
            } else if (exec.matches()) {
                unfinished.put(exec.group(1), exec.group(2));
            } else if (resumed.matches()) {
                programs.add(unfinished.get(resumed.group(1)));
            }
        }
        return programs.stream().collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    }

    @Test
    void touchedNamesEveryFileWrittenInTheWorkspace() throws IOException {
        Map<String, JsonNode> named = each(touched.path("files"))
                .collect(Collectors.toMap(file -> file.path("path").asText(), file -> file));
        var missing = new TreeSet<String>();
        for (Path file : filesThatCameBack()) {
            JsonNode use = use(named, file.toString());
            if (!use.path("written").asBoolean() && !use.path("created").asBoolean()) {
                missing.add(file.toString());
            }
        }
        assertEquals(Set.of(), missing, "files that came back and were not there before, but are not named");
        assertTrue(use(named, "build/out/numbered.txt").path("deleted").asBoolean());
        assertTrue(use(named, "build/link.txt").path("created").asBoolean());
        assertEquals(
                "/workspace/build/old/upper.txt",
                use(named, "build/out/upper.txt").path("renamedTo").asText());
        JsonNode answer = use(named, "build/answer.txt");
        assertEquals(ANSWER_BYTES, answer.path("bytesWritten").asLong());
    }

    private static JsonNode use(Map<String, JsonNode> named, String file) {
        return named.getOrDefault("/workspace/" + file, MissingNode.getInstance());
    }

    private static Set<Path> filesThatCameBack() throws IOException {
        var files = new HashSet<Path>();
        try (Stream<Path> all = Files.walk(back())) {
            all.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .map(file -> back().relativize(file))
                    .filter(file -> !Files.exists(workspace.resolve(file)))
                    .forEach(files::add);
        }
        assertTrue(files.size() > 30, () -> "a clone has more files than " + files);
        return files;
    }

    @Test
    void guestHostAndServiceSawTheSameFlow() {
        List<JsonNode> flows = each(touched.path("egress")).toList();
        assertEquals(1, flows.size(), flows::toString);
        JsonNode flow = flows.getFirst();
        assertEquals("tcp", flow.path("protocol").asText());
        assertEquals("10.0.2.2", flow.path("remote").path("ip").asText());
        assertEquals(port, flow.path("remote").path("port").asInt());
        assertTrue(
                flow.path("seenByGuest").asBoolean() && flow.path("seenByHost").asBoolean(), flow::toString);
        for (String witness : List.of("guestBytes", "hostBytes")) {
            assertEquals(receivedBytes, flow.path(witness).path("out").asLong(), witness);
            assertEquals(sentBytes, flow.path(witness).path("in").asLong(), witness);
        }
        assertFalse(receivedBytes == 0 || sentBytes == 0);
    }

    private static Path back() {
        return Path.of(recorded.path("workspace").asText());
    }

    private static Stream<JsonNode> each(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }
}
