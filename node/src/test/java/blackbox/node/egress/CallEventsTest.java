package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.calls.Api;
import blackbox.calls.Arguments;
import blackbox.calls.ModelCall;
import blackbox.calls.ToolUse;
import blackbox.calls.Usage;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What an upstream or a guest chose fits into an event, and stays JSON.
class CallEventsTest {
    private static final int LEAF_BYTES_MAX = 65_535;

    private static CallEvents events() {
        var nothing = new HttpExchange.Body(0, "00");
        var exchange = new HttpExchange(
                new Flow(Protocol.TCP, new Endpoint("10.0.2.15", 40_000), new Endpoint("198.18.0.1", 443)),
                "model.example",
                3,
                "http/1.1",
                "https",
                new RequestHead("POST", "model.example", "/v1/messages", Set.of(), false),
                "/v1/messages",
                "model",
                200,
                nothing,
                nothing,
                null,
                Duration.ofSeconds(1),
                HttpExchange.How.ANSWERED);
        return new CallEvents(exchange, 10, new CallEvents.Times(1, 2, 3L, new PieceTimes()));
    }

    private static JsonNode detail(Event event) throws Exception {
        String detail = assertInstanceOf(Event.AgentCall.class, event).detail();
        assertTrue(detail.getBytes(StandardCharsets.UTF_8).length < LEAF_BYTES_MAX * 3 / 4);
        return new ObjectMapper().readTree(detail);
    }

    @Test
    void manyLongResults() throws Exception {
        List<String> ids = IntStream.range(0, 1024)
                .mapToObj(each -> "%04d".formatted(each) + "é".repeat(252))
                .toList();
        var call = new ModelCall(
                Api.ANTHROPIC_MESSAGES,
                new ModelCall.Request("m", true, 9L, ids, 5),
                new ModelCall.Response(200, null, null, null, Usage.UNKNOWN, List.of(), 0, null, true, 0),
                List.of());
        JsonNode detail = detail(events().model(call, ids, new Budgets.Cost(null, false)));
        int listed = detail.path("toolResults").size();
        assertTrue(listed > 0, detail::toString);
        assertEquals(ids.getLast(), detail.path("toolResults").path(listed - 1).asText(), "the latest are listed");
        assertEquals(1029, listed + detail.path("toolResultsBefore").asInt());
    }

    @Test
    void longArguments() throws Exception {
        var use = new ToolUse(0, "tool_use", "id", "write", new Arguments("\"".repeat(1 << 16), false), true, 1);
        JsonNode detail = detail(events().tool(use));
        assertTrue(detail.path("argumentsTruncated").asBoolean());
        assertTrue(detail.path("arguments").asText().length() > 1_000);
        JsonNode shortOne =
                detail(events().tool(new ToolUse(0, "tool_use", "id", "write", new Arguments("{}", false), true, 1)));
        assertEquals("{}", shortOne.path("arguments").asText());
        assertEquals(false, shortOne.path("argumentsTruncated").asBoolean(true));
    }
}
