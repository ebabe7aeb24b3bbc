package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyReader;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Of an MCP server's tools those are called that a rule names, and none by another way.
final class McpPassageTest {

    private static RequestVerdict asked(String method, @Nullable String type, @Nullable String coding, String... more)
            throws Exception {
        Policy policy = PolicyReader.read("""
                version: 1
                rules: [{id: docs, mcp: {url: "https://mcp.example/mcp", tools: [search, fetch]}, budget: {requests: 9}}]
                %s
                """.formatted(String.join("\n", more)).getBytes(StandardCharsets.UTF_8));
        var authority = new PolicyAuthority(policy, Set::of, new Budgets(policy, () -> 0));
        var destination = new Destination("mcp.example", "198.18.0.7", 443, Protocol.TCP, "93.184.216.34", null, null);
        var head = new RequestHead(method, "mcp.example", "/mcp", Set.of(), false, type, coding);
        return authority
                .request(destination, "mcp.example", head)
                .toCompletableFuture()
                .join();
    }

    private static Passage passage(String... more) throws Exception {
        RequestVerdict verdict = asked("POST", "application/json", null, more);
        assertTrue(verdict.verdict().allowed(), () -> verdict.verdict().reason());
        assertNull(verdict.passage().begins());
        return verdict.passage();
    }

    /// What is said of a body, however it is cut.
    private static Ruling ruled(Passage passage, byte[] body) {
        for (int at = 0; at < body.length; at += 7) {
            assertNull(passage.body(ByteBuffer.wrap(body, at, Math.min(7, body.length - at))));
        }
        return Objects.requireNonNull(passage.whole());
    }

    private static Ruling ruled(String body) throws Exception {
        return ruled(passage(), body.getBytes(StandardCharsets.UTF_8));
    }

    private static String message(String method, String params) {
        return "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"" + method + "\",\"params\":" + params + "}";
    }

    @Test
    void aToolThatIsNamedIsCalled() throws Exception {
        assertEquals(Passage.Hold.ALL, passage().holds());
        Ruling ruling = ruled(message("tools/call", "{\"name\":\"search\",\"arguments\":{\"name\":\"rm\"}}"));
        assertFalse(ruling.stops());
        assertEquals(Outcome.ALLOW, ruling.verdict().outcome());
        assertEquals("docs", ruling.verdict().rule());
        assertEquals(Stage.MCP, ruling.stage());
        assertEquals("tools/call search", ruling.what());
        for (String method : new String[] {"initialize", "tools/list", "ping", "notifications/initialized"}) {
            assertFalse(ruled(message(method, "{}")).stops(), method);
        }
        assertFalse(ruled("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").stops(), "an answer to the server");
    }

    @Test
    void anotherIsRefusedSoThatItsClientGoesOn() throws Exception {
        Ruling ruling = ruled(message("tools/call", "{\"name\":\"rm\"}"));
        assertTrue(ruling.stops());
        assertEquals(Outcome.DENY, ruling.verdict().outcome());
        assertEquals("default", ruling.verdict().rule());
        assertEquals("tools/call rm", ruling.what());
        assertEquals(200, ruling.status());
        JsonNode answer = new ObjectMapper().readTree(ruling.json());
        assertEquals("2.0", answer.path("jsonrpc").asText());
        assertEquals("a\"b", answer.path("id").asText());
        assertEquals(-32_003, answer.path("error").path("code").asInt());
        String said = answer.path("error").path("message").asText();
        assertTrue(said.startsWith("Blackbox egress gateway: ") && said.endsWith("only fetch, search"), said);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tools/call {}",
                "tools/call []",
                "tools/call {\"name\":[\"search\"]}",
                "tools/call {\"name\":\"Search\"}",
                "tools/call {\"name\":\"search \"}",
                "tools/call {\"name\":\"search\\u0000\"}",
                "Tools/Call {\"name\":\"search\"}",
                "tools/run {\"name\":\"search\"}",
                "resources/read {\"uri\":\"tool://rm\"}",
                "prompts/get {\"name\":\"search\"}",
                "completion/complete {}",
                "sampling/createMessage {}",
            })
    void nothingElseStandsForIt(String call) throws Exception {
        String[] parts = call.split(" ", 2);
        assertTrue(ruled(message(parts[0], parts[1])).stops());
    }

    @Test
    void aBatchIsJudgedEntryByEntry() throws Exception {
        String good = message("tools/call", "{\"name\":\"search\"}");
        String bad = message("tools/call", "{\"name\":\"rm\"}");
        Ruling passed = ruled("[" + good + "," + message("ping", "{}") + "]");
        assertFalse(passed.stops());
        assertEquals("tools/call search, ping", passed.what());
        Ruling refused = ruled("[" + good + "," + bad + "]");
        assertTrue(refused.stops());
        assertEquals(403, refused.status());
        assertNull(refused.json());
        String notified = bad.replace("\"id\":\"a\\\"b\",", "");
        assertEquals(403, ruled(notified).status(), "a notification has no answer");
    }

    @Test
    void whatCannotBeReadInOneWayIsRefused() throws Exception {
        String good = message("tools/call", "{\"name\":\"search\"}");
        for (String body : new String[] {
            "", "[]", "{", good + good, good.replace("\"id\"", "\"method\""), good.replace("params", "Params")
        }) {
            Ruling ruling = ruled(body);
            assertTrue(ruling.stops(), body);
            assertEquals(403, ruling.status());
        }
        byte[] utf16 = good.getBytes(StandardCharsets.UTF_16LE);
        assertTrue(ruled(passage(), utf16).stops());
        byte[] good8 = good.getBytes(StandardCharsets.UTF_8);
        for (String type :
                new String[] {"text/plain", "application/json; charset=utf-7", "application/json, text/xml"}) {
            assertTrue(ruled(asked("POST", type, null).passage(), good8).stops(), type);
        }
        assertTrue(ruled(asked("POST", null, null).passage(), good8).stops());
        assertTrue(ruled(asked("POST", "application/json", "gzip").passage(), good8)
                .stops());
        assertFalse(ruled(asked("POST", "Application/JSON; charset=UTF-8", null).passage(), good8)
                .stops());
    }

    @Test
    void streamsAndSessionsHaveNoBody() throws Exception {
        for (String method : new String[] {"GET", "DELETE"}) {
            RequestVerdict verdict = asked(method, null, null);
            assertTrue(verdict.verdict().allowed(), method);
            assertNull(verdict.passage().whole(), method);
            Passage other = asked(method, "application/json", null).passage();
            assertTrue(
                    ruled(other, message("tools/call", "{\"name\":\"search\"}").getBytes(StandardCharsets.UTF_8))
                            .stops(),
                    method);
        }
        assertFalse(asked("PUT", "application/json", null).verdict().allowed());
    }

    @Test
    void itsRequestsCount() throws Exception {
        Passage passage = passage();
        for (int i = 1; i < 9; i++) {
            assertNull(passage.begins());
        }
        assertEquals(
                Outcome.BUDGET,
                Objects.requireNonNull(passage.begins()).verdict().outcome());
    }

    @Test
    void whenObservedItGoesOn() throws Exception {
        Passage passage = passage("mode: observe");
        assertEquals(Passage.Hold.END, passage.holds());
        byte[] rm = message("tools/call", "{\"name\":\"rm\"}").getBytes(StandardCharsets.UTF_8);
        Ruling ruling = ruled(passage, rm);
        assertFalse(ruling.stops());
        assertEquals(Outcome.WOULD_DENY, ruling.verdict().outcome());
        Ruling tooLong = ruled(passage("mode: observe"), new byte[Passage.HELD_BYTES_MAX + 100]);
        assertNotNull(tooLong.verdict().reason());
        assertFalse(tooLong.stops());
    }
}
