package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A coding agent from npm (pi, over the APIs of two vendors) asks a model on the host's loopback over TLS, and
/// does what it says: write, edit, run, read, commit, fetch.
class RealAgentTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String COMMIT = "git init -q . && git add app.py"
            + " && git -c user.name=a -c user.email=a@b.example commit -q -m first && git log --oneline | wc -l";

    /// What the model asks for, one after the other.
    private static final List<Map.Entry<String, Map<String, Object>>> TOOLS = List.of(
            Map.entry("write", Map.of("path", "/workspace/app.py", "content", "print('hello')\n")),
            Map.entry(
                    "edit",
                    Map.of(
                            "path",
                            "/workspace/app.py",
                            "edits",
                            List.of(Map.of("oldText", "hello", "newText", "world")))),
            Map.entry("bash", Map.of("command", "python3 app.py")),
            Map.entry("read", Map.of("path", "/workspace/app.py")),
            Map.entry("bash", Map.of("command", COMMIT)),
            Map.entry("bash", Map.of("command", "curl -sS https://docs.example/page")));

    private static final long SEED = Long.getLong("blackbox.seed", System.nanoTime());

    /// With how many vendors' models the agent works, drawn by the seed.
    private static final int VENDORS = Integer.getInteger("blackbox.vendors", 1);

    @TempDir
    Path folder;

    private final AtomicInteger requests = new AtomicInteger();

    /// In which the model asks for another command; -1 for none.
    private volatile int changedTurn = -1;

    private volatile FakeModel vendor = new ResponsesModel();

    @Test
    void whatAnAgentDidIsTiedToItsModelAndDoneAgain() throws Exception {
        Installation blackbox = Installation.in(folder);
        blackbox.run("image", "build", "pi").expect(0);
        List<FakeModel> vendors = new ArrayList<>(List.of(new MessagesModel(), new ResponsesModel()));
        Collections.shuffle(vendors, new Random(SEED));
        System.out.println("RealAgentTest: -Dblackbox.seed=" + SEED + ", " + VENDORS + " of 2 vendors");
        for (FakeModel each : vendors.subList(0, VENDORS)) {
            vendor = each;
            requests.set(0);
            Path own = Files.createDirectory(folder.resolve(each.provider()));
            try (HttpsUpstream model = HttpsUpstream.start(own, each.host(), this::answer, "docs.example")) {
                Path policy = policy(own, model);
                Ended ended = record(blackbox, policy, model);
                assertEquals("Done.\n", ended.out());
                assertEquals(TOOLS.size() + 2, requests.get(), "each turn, and the page that was fetched");
                Path came = Path.of(ended.recorded().path("workspace").asText());
                assertEquals("print('world')\n", Files.readString(came.resolve("app.py")));
                String run = id(ended);
                blackbox.verifyComplete(run);
                assertTied(blackbox, run);
                assertDoneAgain(blackbox, run);
                assertEquals(TOOLS.size() + 2, requests.get(), "nobody was asked again");
                if (each instanceof MessagesModel) {
                    assertAnotherAnswerIsTheCause(blackbox, run, policy, model);
                }
            }
        }
    }

    private Path policy(Path own, HttpsUpstream model) throws IOException {
        return Files.writeString(own.resolve("policy.yaml"), """
                version: 1
                rules:
                  - {id: model, host: %2$s, upstream: "127.0.0.1:%1$d"}
                  - {id: docs, host: docs.example, upstream: "127.0.0.1:%1$d"}
                """.formatted(model.port(), vendor.host()));
    }

    private Ended record(Installation blackbox, Path policy, HttpsUpstream model) throws Exception {
        var command = new ArrayList<>(List.of("record", "--json", "--tier", "live", "--image", "pi"));
        command.addAll(List.of("--policy", policy.toString()));
        command.addAll(List.of("--upstream-ca", model.certificate().toString()));
        command.addAll(List.of("--env", vendor.keyName() + "=of-a-test", "--", "pi", "-p"));
        command.addAll(List.of("--provider", vendor.provider(), "--model", vendor.model(), "make an app"));
        return blackbox.run(command.toArray(String[]::new)).expect(0);
    }

    /// A run in which the model says something else once.
    private void assertAnotherAnswerIsTheCause(Installation blackbox, String one, Path policy, HttpsUpstream model)
            throws Exception {
        changedTurn = 2;
        String other = id(record(blackbox, policy, model));
        changedTurn = -1;
        JsonNode differs = blackbox.run("diff", one, other, "--json").expect(1).json();
        assertEquals("DIVERGED", differs.path("verdict").asText(), differs::toString);
        JsonNode first = differs.path("firstDivergence");
        assertEquals("NET_DIFF", first.path("class").asText(), first::toString);
        assertTrue(first.path("causes").toString().contains("the last one before it that differs"), first::toString);
        long call = exchanges(blackbox, one).get(2);
        assertTrue(
                first.path("causes").toString().contains("event " + call + " in " + one),
                () -> call + " is not in " + first);
    }

    /// Indexes of what the model was asked and answered.
    private List<Long> exchanges(Installation blackbox, String run) throws Exception {
        String events = blackbox.run("events", run, "--kind", "http.exchange", "--json")
                .expect(0)
                .out();
        var indexes = new ArrayList<Long>();
        for (String line : events.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            if (event.path("detail").path("target").asText().equals(vendor.path())) {
                indexes.add(event.path("index").asLong());
            }
        }
        return indexes;
    }

    private static String id(Ended recorded) throws IOException {
        return recorded.recorded().path("run").asText();
    }

    private void assertTied(Installation blackbox, String run) throws Exception {
        JsonNode calls = blackbox.run("touched", run, "--calls", "--json")
                .expect(0)
                .json()
                .path("modelCalls");
        assertEquals(TOOLS.size() + 1, calls.size(), calls::toString);
        for (int i = 0; i < TOOLS.size(); i++) {
            String id = vendor.toolPrefix() + i;
            assertEquals(id, calls.path(i).path("tools").path(0).path("id").asText(), calls::toString);
            JsonNode tool = blackbox.run("caused", run, id, "--json")
                    .expect(0)
                    .json()
                    .path("tools")
                    .path(0);
            assertTrue(List.of("A", "B").contains(tool.path("grade").asText()), tool::toString);
        }
        assertTrue(
                blackbox.run("caused", run, vendor.toolPrefix() + 4)
                        .expect(0)
                        .out()
                        .contains("/usr/bin/git"),
                "the commit is its own");
        JsonNode why = blackbox.run("why", run, String.valueOf(writeOfApp(blackbox, run)), "--json")
                .expect(0)
                .json();
        List<String> kinds = StreamSupport.stream(why.path("chain").spliterator(), false)
                .map(step -> step.path("kind").asText() + " " + step.path("id").asText())
                .toList();
        assertTrue(kinds.contains("llm.tool " + vendor.toolPrefix() + 0), why::toString);
        assertTrue(
                kinds.stream().anyMatch(kind -> kind.startsWith("llm.call " + vendor.answerPrefix())), why::toString);
    }

    private static long writeOfApp(Installation blackbox, String run) throws Exception {
        String events = blackbox.run("events", run, "--kind", "file.io", "--json")
                .expect(0)
                .out();
        for (String line : events.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            if (event.path("path").asText().equals("/workspace/app.py")
                    && event.path("bytesWritten").asLong() > 0) {
                return event.path("index").asLong();
            }
        }
        throw new AssertionError("nothing was written to app.py: " + events);
    }

    private void assertDoneAgain(Installation blackbox, String run) throws Exception {
        JsonNode replayed = blackbox.run("replay", run, "--env", vendor.keyName() + "=of-a-test", "--json")
                .expect(0)
                .json();
        assertEquals("EQUIVALENT", replayed.path("verdict").asText(), replayed::toString);
        assertEquals("effects", replayed.path("equivalence").asText(), replayed::toString);
        assertEquals(0, replayed.path("egressPackets").asLong(), replayed::toString);
        String rules = replayed.path("rules").toString();
        // One vendor's API has the session's id in each request; of the other's only its record tells.
        List<String> named = vendor instanceof ResponsesModel
                ? List.of("request-id: ", "session-id: ", "transcript-id: ")
                : List.of("session-name: ", "transcript-id: ");
        for (String rule : named) {
            assertTrue(rules.contains(rule), rules);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        try (exchange) {
            byte[] asked = exchange.getRequestBody().readAllBytes();
            if (!exchange.getRequestURI().getPath().equals(vendor.path())) {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write("the page\n".getBytes(StandardCharsets.UTF_8));
                return;
            }
            int done = (int) vendor.results(JSON.readTree(asked));
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            if (done == TOOLS.size()) {
                vendor.sayDone(exchange.getResponseBody(), done);
                return;
            }
            Map.Entry<String, Map<String, Object>> tool = TOOLS.get(done);
            Map<String, Object> arguments =
                    done == changedTurn ? Map.of("command", "python3 ./app.py") : tool.getValue();
            vendor.askFor(exchange.getResponseBody(), done, tool.getKey(), JSON.writeValueAsString(arguments));
        }
    }
}
