package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.calls.Api;
import blackbox.calls.ModelCall;
import blackbox.calls.Usage;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.Ruling;
import blackbox.policy.Policy;
import blackbox.policy.text.PolicyReader;
import blackbox.schemas.event.Endpoint;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A budget lets through what it has, and nothing on top of it, also where nobody says what was spent.
final class BudgetsTest {
    private static final RequestHead CALL =
            new RequestHead("POST", "model.example", "/v1/messages", Set.of("application/json"), false);

    private long nowNs;

    private static Policy policy(String budget, String... more) throws Exception {
        return PolicyReader.read("""
                version: 1
                rules: [{id: model, host: model.example, budget: {%s}}]
                prices:
                  - {model: cheap, input: 1, output: 2}
                  - {model: dear, input: 10, output: 20, cached: 1}
                %s
                """.formatted(budget, String.join("\n", more)).getBytes(StandardCharsets.UTF_8));
    }

    private final class Under {
        final Policy policy;
        final Budgets budgets;

        Under(Policy policy) {
            this.policy = policy;
            this.budgets = new Budgets(policy, () -> nowNs);
        }

        Passage asks(RequestHead head) {
            return budgets.exchange(policy.rules().getFirst(), head);
        }

        /// A request that goes through, with its whole body.
        Passage goes(String body) {
            Passage passage = asks(CALL);
            assertNull(passage.begins());
            assertNull(passage.body(ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8))));
            assertNull(passage.holds() == Passage.Hold.NOTHING ? null : passage.whole());
            assertNull(passage.sends(body.length()));
            return passage;
        }

        void ends(Passage passage, HttpExchange exchange, @Nullable ModelCall call) {
            var unused = budgets.spend(
                    exchange,
                    call,
                    exchange.request().octets(),
                    exchange.response().octets());
            passage.over();
        }

        long spent(String limit) {
            return budgets.spent().stream()
                    .filter(each -> each.limit().key().equals(limit))
                    .findFirst()
                    .orElseThrow()
                    .spent();
        }
    }

    private static HttpExchange exchange(int status, long sent, long answered, How how) {
        return new HttpExchange(
                new Flow(Protocol.TCP, new Endpoint("10.0.2.15", 40_000), new Endpoint("198.18.0.1", 443)),
                "model.example",
                0,
                "http/1.1",
                "https",
                CALL,
                CALL.target(),
                "model",
                status,
                new HttpExchange.Body(sent, "00"),
                new HttpExchange.Body(answered, "00"),
                null,
                Duration.ofSeconds(1),
                how);
    }

    private static ModelCall call(String model, String answered, @Nullable Long input, @Nullable Long output) {
        return new ModelCall(
                Api.ANTHROPIC_MESSAGES,
                new ModelCall.Request(model, true, 1L, List.of(), 0),
                new ModelCall.Response(
                        200,
                        null,
                        answered,
                        null,
                        new Usage(input, output, null, null, null),
                        List.of(),
                        0,
                        null,
                        input != null && output != null,
                        0),
                List.of());
    }

    private static String refused(@Nullable Ruling ruling) {
        Ruling known = known(ruling);
        assertTrue(known.stops());
        assertEquals(Outcome.BUDGET, known.verdict().outcome());
        assertEquals("model", known.verdict().rule());
        return known.verdict().reason();
    }

    private static Ruling known(@Nullable Ruling ruling) {
        return Objects.requireNonNull(ruling);
    }

    @Test
    void exactlySoManyRequests() throws Exception {
        var it = new Under(policy("requests: 10"));
        for (int i = 0; i < 10; i++) {
            assertNull(it.asks(CALL).begins());
        }
        Ruling ruling = it.asks(CALL).begins();
        assertEquals("rule model: the budget of 10 requests is spent", refused(ruling));
        assertEquals(429, known(ruling).status());
        refused(it.budgets.stream("model").begins());
        assertEquals(10, it.spent("requests"));
    }

    @Test
    void connectionsThatAreNoHttpCountAsRequests() throws Exception {
        var it = new Under(policy("requests: 1"));
        assertNull(it.budgets.stream("model").begins());
        refused(it.budgets.stream("model").begins());
        assertNull(it.budgets.stream("other").begins(), "one without a budget");
        Ruling nobody = it.budgets.stream(null).begins();
        assertTrue(known(nobody).stops(), "one that no rule allows");
    }

    @Test
    void octetsUpToTheLimit() throws Exception {
        var it = new Under(policy("bytesOut: 100, bytesIn: 200"));
        Passage one = it.asks(CALL);
        Passage other = it.asks(CALL);
        assertNull(one.begins());
        assertNull(other.begins());
        assertNull(one.sends(60));
        assertTrue(refused(other.sends(41)).contains("60 octets sent are spent"));
        assertNull(other.sends(40));
        refused(one.sends(1));
        assertNull(one.receives(200), "each by itself");
        refused(one.receives(1));
        refused(it.asks(CALL).begins());
    }

    @Test
    void timeFromTheFirstUse() throws Exception {
        nowNs = TimeUnit.HOURS.toNanos(5);
        var it = new Under(policy("seconds: 90"));
        nowNs += TimeUnit.HOURS.toNanos(5);
        Passage open = it.asks(CALL);
        assertNull(open.begins());
        nowNs += TimeUnit.SECONDS.toNanos(90) - 1;
        assertNull(open.sends(1));
        assertNull(open.receives(1));
        nowNs += 1;
        assertEquals("rule model: the budget of 90 seconds is spent", refused(open.sends(1)));
        refused(open.receives(1));
        refused(it.asks(CALL).begins());
    }

    @Test
    void tokensAsTheAnswersSay() throws Exception {
        var it = new Under(policy("tokens: 1000"));
        it.ends(it.goes("{}"), exchange(200, 2, 9, How.ANSWERED), call("cheap", "cheap", 600L, 399L));
        assertEquals(999, it.spent("tokens"));
        it.ends(it.goes("{}"), exchange(200, 2, 9, How.ANSWERED), call("cheap", "cheap", 1L, 0L));
        refused(it.asks(CALL).begins());
        assertEquals(0, it.budgets.spent().getFirst().estimated());
    }

    /// Without an answer, without a count in it, not read at all: none is a way round.
    @ParameterizedTest
    @ValueSource(strings = {"no answer", "broken off", "no count", "not read", "cut"})
    void whatIsNotSaidIsEstimated(String why) throws Exception {
        var it = new Under(policy("tokens: 40000"));
        Passage passage = it.goes("{}");
        switch (why) {
            case "no answer" -> it.ends(passage, exchange(0, 2, 0, How.BROKEN_BY_GUEST), null);
            case "broken off" ->
                it.ends(passage, exchange(200, 2, 40, How.BROKEN_BY_GUEST), call("cheap", "cheap", 15L, null));
            case "no count" -> it.ends(passage, exchange(200, 2, 40, How.ANSWERED), call("cheap", "x", null, null));
            case "not read" -> it.ends(passage, exchange(200, 2, 40, How.ANSWERED), null);
            default -> it.ends(passage, exchange(200, 2, 40, How.CUT), null);
        }
        assertEquals(1, it.budgets.spent().getFirst().estimated());
        assertTrue(it.spent("tokens") >= CallSpending.UNKNOWN_TOKENS, () -> "" + it.spent("tokens"));
        it.ends(it.goes("{}"), exchange(200, 2, 9_000, How.ANSWERED), null);
        refused(it.asks(CALL).begins());
    }

    @Test
    void eachOctetOfALongAnswerIsAToken() throws Exception {
        var it = new Under(policy("tokens: 1M"));
        it.ends(it.goes("{}"), exchange(200, 300_000, 500_000, How.ANSWERED), null);
        assertEquals(800_000, it.spent("tokens"));
        assertNull(it.asks(CALL).begins());
    }

    @Test
    void whatWasNotServedCostsNothing() throws Exception {
        var it = new Under(policy("tokens: 1000"));
        it.ends(it.goes("{}"), exchange(529, 2, 90, How.ANSWERED), call("cheap", "cheap", null, null));
        it.ends(it.goes("{}"), exchange(502, 0, 0, How.BROKEN_BY_UPSTREAM), null);
        it.ends(it.goes("{}"), exchange(403, 0, 0, How.REFUSED), null);
        assertEquals(0, it.spent("tokens"));
    }

    @Test
    void callsThatGoOnCountWithWhatTheyMaySpend() throws Exception {
        var it = new Under(policy("tokens: 70000"));
        var open = new ArrayList<Passage>();
        Ruling ruling = null;
        for (int i = 0; i < 100 && ruling == null; i++) {
            Passage passage = it.asks(CALL);
            ruling = passage.begins();
            open.add(passage);
        }
        assertEquals(4, open.size(), "three begin while something is left");
        assertTrue(refused(ruling).contains("try again when they are over"));
        open.forEach(passage -> it.ends(passage, exchange(200, 2, 3, How.ANSWERED), call("cheap", "cheap", 10L, 5L)));
        assertNull(it.asks(CALL).begins(), "they spent little");
    }

    @Test
    void moneyByTheModel() throws Exception {
        var it = new Under(policy("usd: 0.01"));
        it.ends(
                it.goes("{\"model\":\"dear\",\"max_tokens\":1,\"messages\":[]}"),
                exchange(200, 2, 9, How.ANSWERED),
                call("dear", "dear", 100L, 50L));
        assertEquals(100 * 10 + 50 * 20, it.spent("usd"), "millionths");
        it.ends(
                it.goes("{\"model\":\"cheap\",\"max_tokens\":1,\"messages\":[]}"),
                exchange(200, 2, 9, How.ANSWERED),
                call("cheap", "dear", 100L, 50L));
        assertEquals(4_000, it.spent("usd"), "the dearer of both");
        it.ends(
                it.goes("{\"model\":\"cheap\",\"max_tokens\":1,\"messages\":[]}"),
                exchange(200, 40, 9, How.ANSWERED),
                null);
        refused(it.asks(CALL).begins());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"model\":\"unknown\",\"max_tokens\":1,\"messages\":[]}",
                "{\"max_tokens\":1,\"messages\":[]}",
                "{\"model\":\"dear\",\"max_tokens\":1,\"messages\":[],\"model\":\"cheap\"}",
                "{\"model\":\"cheap\",\"max_tokens\":1,\"messages\":[]}{\"model\":\"dear\"}",
                "{\"model\":\"cheap\",\"max_tokens\":1,\"messages\":[]",
                "model=cheap",
                "",
            })
    void withoutAPriceNothingIsAsked(String body) throws Exception {
        var it = new Under(policy("usd: 1"));
        Passage passage = it.asks(CALL);
        assertEquals(Passage.Hold.END, passage.holds());
        assertNull(passage.begins());
        assertNull(passage.body(ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8))));
        Ruling ruling = passage.whole();
        refused(ruling);
        assertEquals(403, known(ruling).status());
        passage.over();
        assertEquals(0, it.spent("usd"));
    }

    @Test
    void whatIsNoCallIsNotAskedUnderABudgetOfMoney() throws Exception {
        var it = new Under(policy("usd: 1"));
        Passage models = it.asks(new RequestHead("GET", "model.example", "/v1/models", Set.of(), false));
        assertNull(models.begins());
        refused(models.whole());
        refused(it.asks(new RequestHead("GET", "model.example", "/v1/responses", Set.of(), true))
                .begins());
        refused(it.budgets.stream("model").begins());
        Passage counts = it.asks(new RequestHead("POST", "m", "/v1/messages/count_tokens?beta=true", Set.of(), false));
        assertNull(counts.begins());
        assertEquals(Passage.Hold.NOTHING, counts.holds(), "it only counts");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/messages?a=/count_tokens",
                "/v1/messages;/count_tokens",
                "/v1/messages%2F/count_tokens",
                "/v1/count_tokens/../messages",
                "/v1/../count_tokens",
                "/v1/messages#/count_tokens",
                "/v1//count_tokens",
                "/v1/messages/count_tokens/",
            })
    void nothingElseCounts(String target) {
        assertFalse(CallSpending.counts(target));
    }

    /// A body that nobody here can read is shorter than what it says.
    @Test
    void aCompressedBodyMustBeRead() throws Exception {
        var it = new Under(policy("tokens: 1M"));
        var head = new RequestHead("POST", "model.example", "/v1/messages", Set.of(), false, null, "br");
        Passage passage = it.asks(head);
        assertEquals(Passage.Hold.END, passage.holds());
        assertNull(passage.begins());
        assertNull(passage.body(ByteBuffer.wrap(new byte[] {1, 2, 3})));
        refused(passage.whole());
        assertEquals(Passage.Hold.NOTHING, it.asks(CALL).holds());
    }

    @Test
    void inObserveModeAllGoesOnAndIsSaid() throws Exception {
        var it = new Under(policy("requests: 1, bytesOut: 10", "mode: observe"));
        Passage passage = it.asks(CALL);
        assertNull(passage.begins());
        Ruling first = known(passage.sends(11));
        assertFalse(first.stops());
        assertEquals(Outcome.WOULD_DENY, first.verdict().outcome());
        assertNull(passage.sends(11), "once");
        assertEquals(22, it.spent("bytesOut"));
        assertFalse(known(it.asks(CALL).begins()).stops());
        assertEquals(2, it.spent("requests"));
    }
}
