package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// An agent in a guest asks a model on the host's loopback what to do, does it, and asks a server of MCP: which model,
/// with what, and which tools it asked for is in the record.
class ModelCallsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String AGENT = """
            import json, subprocess, urllib.request
            def post(path, body):
                request = urllib.request.Request('https://model.example' + path, json.dumps(body).encode(),
                    {'Content-Type': 'application/json'})
                return urllib.request.urlopen(request).read().decode()
            def ask(messages):
                said = post('/v1/messages', {'model': 'model-asked', 'stream': True, 'messages': messages})
                return [json.loads(line[6:]) for line in said.splitlines() if line.startswith('data: ')]
            messages = [{'role': 'user', 'content': 'go'}]
            while True:
                events = ask(messages)
                uses = {e['index']: e['content_block'] for e in events if e['type'] == 'content_block_start'
                    and e['content_block']['type'] == 'tool_use'}
                if not uses:
                    break
                results = []
                for index, use in uses.items():
                    given = json.loads(''.join(e['delta']['partial_json'] for e in events
                        if e['type'] == 'content_block_delta' and e['index'] == index))
                    use['input'] = given
                    done = subprocess.run(given['command'], shell=True, capture_output=True).stdout.decode()
                    results.append({'type': 'tool_result', 'tool_use_id': use['id'], 'content': done})
                messages += [{'role': 'assistant', 'content': list(uses.values())}, {'role': 'user', 'content': results}]
            print(json.loads(post('/mcp', {'jsonrpc': '2.0', 'id': 7, 'method': 'tools/call',
                'params': {'name': 'search', 'arguments': {'query': 'of the agent'}}}))['result']['content'][0]['text'])
            """;

    private static final String BEYOND = """
            print(json.loads(post('/mcp', {'jsonrpc': '2.0', 'id': 8, 'method': 'tools/call',
                'params': {'name': 'rm', 'arguments': {}}}))['error']['code'])
            try:
                ask(messages)
            except urllib.error.HTTPError as refused:
                print(refused.code, json.loads(refused.read())['rule'])
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @ParameterizedTest
    @CsvSource({"live, EQUIVALENT", "exact, IDENTICAL"})
    void whatAModelWasAskedAndAskedForIsInTheRecord(String tier, String verdict) throws Exception {
        try (HttpsUpstream model = HttpsUpstream.start(folder, "model.example", ModelCallsTest::answer)) {
            Path policy = limited(model);
            Ended ended = blackbox.run(
                            "record",
                            "--json",
                            "--tier",
                            tier,
                            "--policy",
                            policy.toString(),
                            "--upstream-ca",
                            model.certificate().toString(),
                            "--",
                            "python3",
                            "-c",
                            AGENT + BEYOND)
                    .expect(0);
            assertEquals("found it\n-32003\n429 model\n", ended.out());
            String run = ended.recorded().path("run").asText();
            blackbox.verifyComplete(run);
            JsonNode replayed = blackbox.run("replay", run, "--json").expect(0).json();
            assertEquals(verdict, replayed.path("verdict").asText(), replayed::toString);
            assertTheCallsAreTold(
                    blackbox.run("touched", run, "--calls", "--json").expect(0).json());
            String text = blackbox.run("touched", run, "--calls").expect(0).out();
            assertTrue(text.contains("asks for shell"), text);
            assertTrue(text.contains("model-answered: 2 calls, 30 tokens in, 12 out"), text);
            assertTheFilesAreTiedToTheTools(blackbox, run);
            assertTheLimitsAreTold(
                    blackbox.run("touched", run, "--egress", "--json").expect(0).json());
            JsonNode shown = blackbox.run("show", run, "--json").expect(0).json();
            assertEquals(30, shown.path("models").path(0).path("inputTokens").asLong(), shown::toString);
            assertEquals("0.00027", shown.path("models").path(0).path("costUsd").asText(), shown::toString);
            assertEquals(2, shown.path("counts").path("llm.tool").asLong(), shown::toString);
        }
    }

    /// What an agent says otherwise than in the recording has no answer there, also in TLS.
    @Test
    void whatIsAskedOtherwiseIsMissed() throws Exception {
        try (HttpsUpstream model = HttpsUpstream.start(folder, "model.example", ModelCallsTest::answer)) {
            String run = blackbox.run(
                            "record",
                            "--json",
                            "--tier",
                            "live",
                            "--policy",
                            policy(model).toString(),
                            "--upstream-ca",
                            model.certificate().toString(),
                            "--",
                            "sh",
                            "-c",
                            "date +'{\"messages\":[],\"at\":1%N}' | curl -sS --data-binary @- https://model.example/v1/messages")
                    .expect(0)
                    .recorded()
                    .path("run")
                    .asText();
            JsonNode replayed = blackbox.run("replay", run, "--json").expect(1).json();
            assertEquals("DIVERGED", replayed.path("verdict").asText(), replayed::toString);
            assertEquals(0, replayed.path("egressPackets").asLong(), replayed::toString);
            JsonNode first = replayed.path("firstDivergence");
            assertEquals("NET_MISS", first.path("class").asText(), replayed::toString);
            assertTrue(first.path("actual").asText().contains("the request differs"), replayed::toString);
        }
    }

    private static void assertTheCallsAreTold(JsonNode touched) {
        JsonNode calls = touched.path("modelCalls");
        assertEquals(2, calls.size(), touched::toString);
        JsonNode first = calls.path(0);
        assertEquals("anthropic-messages", first.path("api").asText(), first::toString);
        assertEquals("model.example", first.path("host").asText(), first::toString);
        assertEquals("model-asked", first.path("requestModel").asText(), first::toString);
        assertEquals("model-answered", first.path("model").asText(), first::toString);
        assertEquals("tool_use", first.path("stopReason").asText(), first::toString);
        assertTrue(first.path("complete").asBoolean(), first::toString);
        assertEquals(0, first.path("toolResults").size(), first::toString);
        JsonNode tools = first.path("tools");
        assertEquals(2, tools.size(), first::toString);
        assertEquals("shell", tools.path(0).path("name").asText(), first::toString);
        assertEquals(
                "{\"command\":\"echo one > /tmp/one\"}",
                tools.path(0).path("arguments").asText(),
                first::toString);
        JsonNode second = calls.path(1);
        assertEquals("[\"use-1\",\"use-2\"]", second.path("toolResults").toString(), "both were run before it");
        assertEquals("end_turn", second.path("stopReason").asText(), second::toString);
        // What was asked for cannot have been run before it was whole, nor after its result was sent.
        Instant whole = Instant.parse(tools.path(1).path("wholeAt").asText());
        assertTrue(whole.isAfter(Instant.parse(first.path("askedAt").asText())), first::toString);
        assertTrue(whole.isBefore(Instant.parse(second.path("sentAt").asText())), second::toString);
        JsonNode mcp = touched.path("mcpCalls").path(0);
        assertEquals("tools/call", mcp.path("method").asText(), touched::toString);
        assertEquals("search", mcp.path("name").asText(), touched::toString);
        assertEquals("{\"query\":\"of the agent\"}", mcp.path("arguments").asText(), touched::toString);
        assertTrue(mcp.path("answered").asBoolean(), touched::toString);
        assertEquals(
                5,
                StreamSupport.stream(touched.path("httpRequests").spliterator(), false)
                        .mapToLong(each -> each.path("count").asLong())
                        .sum(),
                touched::toString);
    }

    private static void assertTheLimitsAreTold(JsonNode touched) {
        List<String> budgets = StreamSupport.stream(touched.path("budgets").spliterator(), false)
                .map(each -> each.path("rule").asText() + " "
                        + each.path("limit").asText() + " " + each.path("spent").asText() + "/"
                        + each.path("most").asText())
                .toList();
        assertEquals(
                List.of("model requests 2/2", "model tokens 42/3000000", "model usd 0.00027/5.00"),
                budgets,
                touched::toString);
        List<String> decisions = StreamSupport.stream(
                        touched.path("egressDecisions").spliterator(), false)
                .map(each ->
                        each.path("stage").asText() + " " + each.path("verdict").asText() + " "
                                + each.path("rule").asText())
                .toList();
        assertTrue(
                decisions.containsAll(List.of("mcp allow docs", "mcp deny default", "http budget model")),
                touched::toString);
    }

    /// From the file that a tool wrote up to the answer that asked for it, and from the other tool down to its file.
    private static void assertTheFilesAreTiedToTheTools(Installation blackbox, String run) throws Exception {
        JsonNode why = blackbox.run("why", run, String.valueOf(writeOf(blackbox, run, "/tmp/one")), "--json")
                .expect(0)
                .json();
        assertSure(why, why);
        List<String> ids = StreamSupport.stream(why.path("chain").spliterator(), false)
                .filter(step ->
                        List.of("tool", "call").contains(step.path("role").asText()))
                .map(step -> step.path("kind").asText() + " " + step.path("id").asText())
                .toList();
        assertEquals(List.of("llm.tool use-1", "llm.call msg"), ids, why::toString);
        assertEquals("process.exec", why.path("chain").path(1).path("kind").asText(), why::toString);
        JsonNode caused =
                blackbox.run("caused", run, "use-2", "--json").expect(0).json();
        JsonNode tool = caused.path("tools").path(0);
        assertSure(tool, caused);
        assertEquals("result", tool.path("window").path("end").asText(), caused::toString);
        JsonNode exec = tool.path("execs").path(0);
        assertSure(exec, caused);
        assertTrue(exec.path("what").asText().contains("-c echo two > /tmp/two"), caused::toString);
        List<String> written = StreamSupport.stream(tool.path("files").spliterator(), false)
                .filter(file -> file.path("bytesWritten").asLong() > 0)
                .map(file -> file.path("path").asText())
                .toList();
        assertEquals(List.of("/tmp/two"), written, caused::toString);
        blackbox.run("caused", run, "use-3").expect(2);
        blackbox.run("why", run, "1000000").expect(2);
        assertTrue(blackbox.run("caused", run, "use-1").expect(0).out().contains("/tmp/one"));
    }

    private static void assertSure(JsonNode graded, JsonNode answer) {
        assertTrue(List.of("A", "B").contains(graded.path("grade").asText()), answer::toString);
    }

    private static long writeOf(Installation blackbox, String run, String path) throws Exception {
        String events = blackbox.run("events", run, "--kind", "file.io", "--json")
                .expect(0)
                .out();
        for (String line : events.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            if (event.path("path").asText().equals(path)
                    && event.path("bytesWritten").asLong() > 0) {
                return event.path("index").asLong();
            }
        }
        throw new AssertionError("nothing was written to " + path + ": " + events);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            JsonNode asked = JSON.readTree(exchange.getRequestBody());
            boolean mcp = exchange.getRequestURI().getPath().equals("/mcp");
            exchange.getResponseHeaders().set("Content-Type", mcp ? "application/json" : "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            String text = mcp
                    ? """
                    {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"found it"}],"isError":false}}
                    """.formatted(asked.path("id").asInt())
                    : asked.path("messages").size() == 1 ? TOOLS : END;
            for (String event : text.split("(?<=\n\n)", -1)) {
                out.write(event.getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        }
    }

    private static Path policy(HttpsUpstream model) throws IOException {
        return Files.writeString(folder.resolve("policy.yaml"), """
                version: 1
                rules: [{id: model, host: model.example, upstream: "127.0.0.1:%d"}]
                """.formatted(model.port()));
    }

    private static Path limited(HttpsUpstream model) throws IOException {
        return Files.writeString(folder.resolve("limited.yaml"), """
                version: 1
                rules:
                  - id: model
                    host: model.example
                    paths: [/v1/messages]
                    upstream: "127.0.0.1:%1$d"
                    budget: {requests: 2, tokens: 3M, usd: 5}
                  - {id: docs, mcp: {url: "https://model.example/mcp", tools: [search]}, upstream: "127.0.0.1:%1$d"}
                prices: [{model: model-asked, input: 3, output: 15}]
                """.formatted(model.port()));
    }

    private static final String BEGIN = """
            event: message_start
            data: {"type":"message_start","message":{"id":"msg","model":"model-answered","role":"assistant","content":[],"usage":{"input_tokens":15,"output_tokens":1}}}

            """;

    private static final String TOOLS = BEGIN + use(0, "one") + use(1, "two") + end("tool_use");

    private static final String END = BEGIN + end("end_turn");

    private static String use(int index, String word) {
        return """
                event: content_block_start
                data: {"type":"content_block_start","index":%1$d,"content_block":{"type":"tool_use","id":"use-%2$d","name":"shell","input":{}}}

                event: content_block_delta
                data: {"type":"content_block_delta","index":%1$d,"delta":{"type":"input_json_delta","partial_json":"{\\"command\\": \\"echo "}}

                event: content_block_delta
                data: {"type":"content_block_delta","index":%1$d,"delta":{"type":"input_json_delta","partial_json":"%3$s > /tmp/%3$s\\"}"}}

                event: content_block_stop
                data: {"type":"content_block_stop","index":%1$d}

                """.formatted(index, index + 1, word);
    }

    private static String end(String reason) {
        return """
                event: message_delta
                data: {"type":"message_delta","delta":{"stop_reason":"%s"},"usage":{"output_tokens":6}}

                event: message_stop
                data: {"type":"message_stop"}

                """.formatted(reason);
    }
}
