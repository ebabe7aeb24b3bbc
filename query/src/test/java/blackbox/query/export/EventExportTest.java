package blackbox.query.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The forms that have every event, and the time line.
class EventExportTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private TestRun run;
    private TestEvents events;

    @BeforeEach
    void record() throws Exception {
        run = new TestRun(folder);
        events = new TestEvents(run);
        run.open("exported");
    }

    private EventExport.Written write(EventExport export) throws Exception {
        run.close(0);
        run.spool(0, run.batches.size());
        return EventExport.write(Recordings.unchecked(folder), run.run, export);
    }

    @Test
    void jsonHasEveryEventInOrder() throws Exception {
        events.compile(100, "/workspace/a.o");
        events.network();
        var text = new StringWriter();
        EventExport.Written written = write(new JsonExport(text));
        List<String> lines = text.toString().lines().toList();
        assertEquals(written.events(), lines.size());
        for (int i = 0; i < lines.size(); i++) {
            assertEquals(i, JSON.readTree(lines.get(i)).path("index").asInt(-1));
        }
        assertTrue(written.limits().toString().contains("7 events were lost (ring)"), () -> written.toString());
    }

    @Test
    void csvHasEveryColumnUnderItsName() throws Exception {
        events.compile(100, "/workspace/a,\"b.o");
        var text = new StringWriter();
        EventExport.Written written = write(new CsvExport(new PrintWriter(text)));
        List<String> lines = text.toString().lines().toList();
        assertEquals(written.events() + 1, lines.size());
        assertEquals(Column.values().length + 2, lines.getFirst().split(",", -1).length);
        assertTrue(lines.getFirst().startsWith("index,at,kind,at_ns,source,"), lines.getFirst());
        String created = lines.stream()
                .filter(line -> line.contains("file.open") && line.contains("b.o"))
                .findFirst()
                .orElseThrow();
        assertTrue(created.contains(",\"/workspace/a,\"\"b.o\","), created);
        String exec = lines.stream()
                .filter(line -> line.contains("process.exec"))
                .findFirst()
                .orElseThrow();
        assertTrue(exec.contains(",\"[\"\"PATH\"\",\"\"HOME\"\"]\","), exec);
    }

    /// Slices of one process are nested, none ends before it begins, and whatever begins ends.
    @Test
    void aTimeLineIsWhole() throws Exception {
        events.compile(100, "/workspace/a.o");
        events.compile(110, "/workspace/b.o");
        run.add(new Event.ProcessExec(
                events.guest(120, 1, "sleep"), Text.of("/bin/sleep"), List.of(), List.of(), null, 0)); // never ends
        events.network();
        var local = new Endpoint("10.0.2.15", 41_000);
        var remote = new Endpoint("198.18.0.1", 443);
        for (String what : List.of("open", "closed", "open")) { // and is open again to the end
            run.add(new Event.NetFlow(
                    EventHeader.host(run.tick()), "tcp", local, remote, Text.of("m.example"), 1, 2, null, null, what));
        }
        run.add(new Event.AgentCall(
                Kind.LLM_CALL,
                EventHeader.host(run.tick()),
                Text.of("openai-chat"),
                local,
                remote,
                Text.of("m.example"),
                "{\"requestModel\":\"m-1\",\"askedAtNs\":" + (TestRun.START_NS + 5_000_000) + "}"));
        var text = new StringWriter();
        EventExport.Written unused = write(new ChromeTrace(run.run, text));
        JsonNode trace = JSON.readTree(text.toString());
        assertEquals(run.run.value(), trace.path("otherData").path("run").asText());
        assertTrue(trace.path("otherData").path("limits").toString().contains("7 events were lost"));
        Map<Long, Deque<JsonNode>> open = new HashMap<>();
        Map<String, JsonNode> spans = new HashMap<>();
        var programs = new ArrayList<String>();
        var ended = new ArrayList<String>();
        for (JsonNode entry : trace.path("traceEvents")) {
            long lane = entry.path("pid").asLong();
            Deque<JsonNode> slices = open.computeIfAbsent(lane, _ -> new ArrayDeque<>());
            String span = entry.path("name").asText() + entry.path("id").asText();
            switch (entry.path("ph").asText()) {
                case "B" -> slices.push(entry);
                case "E" -> {
                    JsonNode began = slices.pop();
                    assertEquals(began.path("name"), entry.path("name"));
                    assertTrue(entry.path("ts").asDouble() >= began.path("ts").asDouble());
                    programs.add(entry.path("name").asText() + " " + lane);
                }
                case "b" -> spans.put(span, entry);
                case "e" -> {
                    JsonNode began = Objects.requireNonNull(spans.remove(span), span);
                    assertTrue(entry.path("ts").asDouble() >= began.path("ts").asDouble());
                    ended.add(entry.path("name").asText());
                }
                default -> {}
            }
        }
        assertEquals(Map.of(), spans);
        assertTrue(open.values().stream().allMatch(Deque::isEmpty), open::toString);
        assertTrue(programs.containsAll(List.of("cc 100", "cc 110", "sleep 120")), programs::toString);
        assertTrue(ended.contains("model m-1"), ended::toString);
        assertEquals(
                2,
                ended.stream()
                        .filter("tcp 10.0.2.15:41000 → m.example:443"::equals)
                        .count(),
                ended::toString);
    }
}
