package blackbox.calls.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.calls.Arguments;
import blackbox.calls.Call;
import blackbox.calls.McpCall;
import blackbox.calls.ModelCall;
import blackbox.calls.ToolUse;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Bodies that are not as they should be: nothing is thrown, nothing is guessed, and what was not read is said.
class HostileTest {
    private static final String REQUEST = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}";
    private static final String EVENTS = "text/event-stream";

    private static ModelCall read(Exchange exchange) {
        List<Call> calls = exchange.read();
        assertEquals(calls, exchange.read(1));
        assertEquals(1, calls.size());
        return (ModelCall) calls.getFirst();
    }

    private static ModelCall anthropic(String responseType, String response) {
        return read(Exchange.of("/v1/messages", REQUEST, responseType, Exchange.utf8(response)));
    }

    private static ModelCall request(String request) {
        return read(Exchange.of("/v1/messages", request, "application/json", new byte[0]));
    }

    /// A stream with a tool use whose arguments come in these pieces, each as it is written in JSON.
    private static String toolUse(List<String> pieces, String lineEnd) {
        var stream = new StringBuilder();
        String start = "{\"type\":\"content_block_start\",\"index\":0,"
                + "\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}";
        stream.append("data: ").append(start).append(lineEnd).append(lineEnd);
        for (String piece : pieces) {
            stream.append("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"")
                    .append(piece)
                    .append("\"}}")
                    .append(lineEnd)
                    .append(lineEnd);
        }
        return stream.append("data: {\"type\":\"content_block_stop\",\"index\":0}")
                .append(lineEnd)
                .append(lineEnd)
                .toString();
    }

    @Test
    void octetsChangedAtRandom() {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        for (String name : Exchange.NAMES) {
            Exchange exchange = Exchange.named(name);
            for (int round = 0; round < 60; round++) {
                byte[] response = exchange.response().clone();
                byte[] request = exchange.request().clone();
                for (int change = 0; change <= round % 4; change++) {
                    response[random.nextInt(response.length)] = (byte) random.nextInt(256);
                    request[random.nextInt(request.length)] = (byte) random.nextInt(256);
                }
                Exchange changed = new Exchange(
                        exchange.method(),
                        exchange.path(),
                        exchange.requestHeaders(),
                        round % 2 == 0 ? exchange.request() : request,
                        exchange.status(),
                        exchange.responseHeaders(),
                        response);
                List<Call> expected = changed.read();
                assertEquals(expected, changed.read(1), () -> name + ", seed " + seed);
                assertEquals(expected, changed.read(1 + random.nextInt(40)), () -> name + ", seed " + seed);
            }
        }
    }

    @Test
    void deepNestingIsRefusedAndSaid() {
        ModelCall deepInWhatIsSkipped = request("{\"model\":\"m\",\"x\":" + "[".repeat(100_000));
        assertEquals(2, deepInWhatIsSkipped.notRead().size());
        assertTrue(deepInWhatIsSkipped.notRead().getFirst().contains("nested deeper than 200"));
        ModelCall arguments = anthropic(
                "application/json",
                "{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":"
                        + "[".repeat(150) + "]".repeat(150) + "}]}");
        assertEquals(List.of(), arguments.notRead());
        assertEquals(300, arguments(arguments).text().length());
    }

    @Test
    void giantStringsAndNumbersTakeNoRoom() {
        String giant = "x\\u0041é😀".repeat(1_000_000);
        ModelCall call = request("{\"messages\":[{\"role\":\"user\",\"content\":\"" + giant + "\"}],\"model\":\"m\"}");
        assertEquals("m", call.request().model());
        assertEquals(1L, call.request().messages());
        assertEquals(List.of(), call.notRead());
        ModelCall number = request("{\"model\":\"m\",\"x\":" + "1".repeat(2_000_000) + "}");
        assertTrue(number.notRead().getFirst().contains("a name or number in it is too long"));
        ModelCall name = request("{\"" + "n".repeat(3_000_000) + "\":1,\"model\":\"m\"}");
        assertTrue(name.notRead().getFirst().contains("a name or number in it is too long"));
        ModelCall model = request("{\"model\":\"" + giant + "\",\"messages\":[]}");
        assertEquals(
                giant.replace("\\u0041", "A").substring(0, 256).stripTrailing(),
                model.request().model());
        assertEquals(List.of("request: a text was longer than the 256 characters that are kept"), model.notRead());
    }

    @Test
    void longArgumentsAreCutAndSaidToBe() {
        String piece = "y".repeat(50_000);
        ModelCall pieces = anthropic(EVENTS, toolUse(List.of("{\\\"a\\\":\\\"", piece, piece, "\\\"}"), "\n"));
        assertTrue(arguments(pieces).truncated());
        assertEquals(DraftedUse.ARGUMENTS_CHARS_MAX, arguments(pieces).text().length());
        ModelCall whole = anthropic(
                "application/json",
                "{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":\""
                        + piece + piece + "\",\"b\":[1,2]}}],\"stop_reason\":\"tool_use\"}");
        assertTrue(arguments(whole).truncated());
        assertTrue(arguments(whole).text().length() <= DraftedUse.ARGUMENTS_CHARS_MAX);
        assertEquals("tool_use", whole.response().stopReason());
    }

    @Test
    void manyToolUsesAndResultsHaveBounds() {
        var blocks = new StringBuilder("{\"type\":\"message\",\"content\":[{\"type\":\"text\"}");
        blocks.append(",{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":\"" + "z".repeat(30_000)
                + "\"}}".repeat(1));
        blocks.repeat(",{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}", 999);
        ModelCall call = anthropic("application/json", blocks + "]}");
        assertEquals(256, call.response().toolUses().size());
        assertEquals(744, call.response().toolUsesLeftOff());
        assertFalse(call.notRead().isEmpty());
        var results = new StringBuilder("{\"model\":\"m\",\"messages\":[{\"content\":\"q\"}");
        for (int i = 0; i < 3000; i++) {
            results.append(",{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t" + i + "\"}]}");
        }
        ModelCall answered = request(results + "]}");
        assertEquals(3001L, answered.request().messages());
        assertEquals(1024, answered.request().toolResults().size());
        assertEquals("t2999", answered.request().toolResults().getLast());
        assertEquals(1976, answered.request().toolResultsLeftOff());
    }

    @Test
    void membersThatAreThereTwiceAreSaid() {
        ModelCall call = request("{\"model\":\"a\",\"messages\":[],\"model\":\"b\"}");
        assertEquals("b", call.request().model());
        assertEquals(List.of("request: an object has a member twice; the last is taken"), call.notRead());
        ModelCall joined = anthropic(EVENTS, toolUse(List.of("{\\\"a\\\":1,\\\"a\\\":2}"), "\n"));
        assertEquals(new Arguments("{\"a\":1,\"a\":2}", false), arguments(joined));
    }

    @Test
    void textThatIsNoUtf8IsSaid() {
        var response = new ByteArrayOutputStream();
        response.writeBytes(Exchange.utf8("{\"type\":\"message\",\"id\":\""));
        response.write(0xff);
        response.writeBytes(Exchange.utf8("\"}"));
        ModelCall call = read(Exchange.of("/v1/messages", REQUEST, "application/json", response.toByteArray()));
        assertNull(call.response().id());
        assertFalse(call.response().complete());
        assertEquals(1, call.notRead().size());
    }

    @Test
    void eventsMayBeWrittenInManyWays() {
        Arguments expected = new Arguments("{\"a\":1}", false);
        List<String> pieces = List.of("{\\\"a\\\"", ":1}");
        for (String lineEnd : List.of("\n", "\r", "\r\n")) {
            String stream = toolUse(pieces, lineEnd);
            assertEquals(expected, arguments(anthropic(EVENTS, stream)), lineEnd);
            assertEquals(expected, arguments(anthropic(EVENTS, "\ufeff" + stream)));
            assertEquals(
                    expected, arguments(anthropic(EVENTS, ": hello" + lineEnd + stream.replace("data: ", "data:"))));
            assertEquals(
                    expected,
                    arguments(anthropic(EVENTS, stream.replace(",\"index\"", "," + lineEnd + "data: \"index\""))));
            assertEquals(
                    expected,
                    arguments(anthropic(
                            EVENTS, stream.replace("data: ", "id: 1" + lineEnd + "retry:5" + lineEnd + "data: "))));
        }
    }

    @Test
    void anEventThatCannotBeReadHidesNoOther() {
        ModelCall call = anthropic(EVENTS, "data: {\"type\":\n\ndata: nonsense\n\n" + toolUse(List.of("{}"), "\n"));
        assertEquals(new Arguments("{}", false), arguments(call));
        assertEquals(2, call.notRead().size(), () -> call.notRead().toString());
    }

    @Test
    void aStreamThatBreaksOffGivesWhatCame() {
        String stream = toolUse(List.of("{\\\"a\\\":", "1}"), "\n");
        int cut = stream.indexOf("1}");
        ModelCall call = anthropic(EVENTS, stream.substring(0, cut));
        ToolUse use = call.response().toolUses().getFirst();
        assertFalse(use.complete());
        assertEquals(new Arguments("{\"a\":", false), use.arguments());
        assertEquals(stream.indexOf("\n\n", stream.indexOf("partial_json")) + 2, use.endOffset());
        assertEquals(List.of("response: its last event breaks off"), call.notRead());
    }

    @Test
    void codingsAndTypesThatAreNotKnownAreSaid() {
        Exchange plain = Exchange.named("anthropic-json");
        var brotli = new Exchange(
                "POST",
                plain.path(),
                plain.requestHeaders(),
                plain.request(),
                200,
                Map.of("content-type", "application/json", "content-encoding", "br"),
                plain.response());
        assertEquals(
                List.of("response: its content coding is not known here"),
                read(brotli).notRead());
        assertEquals("claude-sonnet-4-5", read(brotli).request().model());
        assertEquals(
                List.of("response: its content type is neither JSON nor a stream of events"),
                anthropic("text/html", "<html>").notRead());
        assertTrue(anthropic("", "\n " + toolUse(List.of("{}"), "\n"))
                .response()
                .toolUses()
                .getFirst()
                .complete());
        assertEquals(
                "i",
                anthropic("", " {\"type\":\"message\",\"id\":\"i\"}").response().id());
    }

    @Test
    void compressedBodiesThatAreBrokenAreSaid() {
        for (String coding : List.of("gzip", "zstd")) {
            Exchange encoded = Exchange.named("anthropic-stream").encoded(coding);
            byte[] whole = encoded.response();
            ModelCall cut = read(encoded.withResponse(Arrays.copyOf(whole, whole.length - 3)));
            assertTrue(
                    cut.notRead().toString().contains("breaks off"),
                    cut.notRead().toString());
            byte[] wrong = whole.clone();
            wrong[0] ^= 1;
            assertEquals(1, read(encoded.withResponse(wrong)).notRead().size());
        }
    }

    @Test
    void framesWithWrongChecksumsAreNotRead() {
        Exchange exchange = Exchange.named("bedrock-converse-stream");
        byte[] frames = exchange.response().clone();
        frames[frames.length - 20] ^= 1;
        ModelCall call = read(exchange.withResponse(frames));
        assertEquals(List.of("response: the checksum of a message is wrong"), call.notRead());
        assertNull(call.response().usage().inputTokens());
        frames = exchange.response().clone();
        frames[0] ^= 1;
        assertEquals(
                List.of("response: the checksum of a message's prelude is wrong"),
                read(exchange.withResponse(frames)).notRead());
        byte[] giant = Exchange.frame(Map.of(":event-type", "metadata"), new byte[2 << 20]);
        var both = new ByteArrayOutputStream();
        both.writeBytes(giant);
        both.writeBytes(exchange.response());
        ModelCall after = read(exchange.withResponse(both.toByteArray()));
        assertTrue(after.response().complete());
        assertEquals(List.of("response: messages of more than 1048576 octets: 1"), after.notRead());
    }

    @Test
    void aCallOfMcpThatCannotBeReadIsStillOne() {
        var exchange = new Exchange(
                "POST",
                "/mcp",
                Map.of("content-type", "application/json", "mcp-method", "tools/call", "mcp-name", "query"),
                Exchange.utf8("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\""),
                200,
                Map.of(),
                new byte[0]);
        McpCall call = (McpCall) exchange.read().getFirst();
        assertEquals("tools/call", call.method());
        assertEquals("query", call.name());
        assertEquals(List.of("request: the JSON breaks off"), call.notRead());
    }

    @Test
    void withoutAResponseNothingIsKnownOfIt() {
        Exchange exchange = Exchange.named("openai-chat-json");
        try (CallReader reader = exchange.reader()) {
            reader.request(exchange.request(), 0, exchange.request().length);
            ModelCall call = (ModelCall) reader.finish().getFirst();
            assertEquals(0, call.response().status());
            assertFalse(call.response().complete());
            assertEquals("gpt-5", call.request().model());
            assertEquals(reader.finish(), reader.finish());
        }
    }

    @Test
    void aReaderThatWasClosedTakesNoMore() {
        Exchange exchange = Exchange.named("anthropic-json").encoded("gzip");
        CallReader reader = exchange.reader();
        reader.request(exchange.request(), 0, 9);
        reader.close();
        reader.request(exchange.request(), 9, exchange.request().length);
        exchange.head(reader);
        assertEquals(List.of(), reader.finish());
    }

    @Test
    void anErrorThatIsNullIsNone() {
        ModelCall call = anthropic("application/json", "{\"type\":\"message\",\"id\":\"i\",\"error\":null}");
        assertEquals("i", call.response().id());
        assertNull(call.response().error());
    }

    private static Arguments arguments(ModelCall call) {
        Arguments arguments = call.response().toolUses().getFirst().arguments();
        assertNotNull(arguments);
        return arguments;
    }
}
