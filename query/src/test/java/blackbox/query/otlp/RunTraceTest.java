package blackbox.query.otlp;

import static blackbox.query.otlp.CallingRun.AGENT;
import static blackbox.query.otlp.CallingRun.answered;
import static blackbox.query.otlp.CallingRun.request;
import static blackbox.query.otlp.CallingRun.written;
import static blackbox.query.otlp.Otlp.attributes;
import static blackbox.query.otlp.Otlp.index;
import static blackbox.query.why.ToolRun.ns;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.otlp.RunTrace.Programs;
import blackbox.query.why.ToolRun;
import blackbox.query.why.ToolRun.Use;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import io.opentelemetry.semconv.SchemaUrls;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a reader of OTLP finds in a run's trace.
class RunTraceTest {

    @TempDir
    Path folder;

    private CallingRun run;

    @BeforeEach
    void record() throws Exception {
        run = new CallingRun(folder);
    }

    @Test
    void aRunIsOneTraceOfItsCallsAndTools() throws Exception {
        long first = run.twoTurns();
        Otlp otlp = run.exported();
        assertEquals(5, otlp.spans().size(), otlp::toString);
        Span root = otlp.span("invoke_agent");
        assertEquals("", Otlp.id(root.getParentSpanId()));
        assertEquals(Span.SpanKind.SPAN_KIND_INTERNAL, root.getKind());
        assertEquals("anthropic", attributes(root).get("gen_ai.provider.name"));
        assertEquals(0L, attributes(root).get("process.exit.code"));
        assertEquals(StatusCode.STATUS_CODE_UNSET, root.getStatus().getCode());

        Span chat = otlp.spans().get(1);
        assertEquals("chat model-latest", chat.getName());
        assertEquals(Span.SpanKind.SPAN_KIND_CLIENT, chat.getKind());
        assertEquals(root.getSpanId(), chat.getParentSpanId());
        assertEquals(ns(10), chat.getStartTimeUnixNano());
        assertEquals(ns(30), chat.getEndTimeUnixNano());
        Map<String, Object> expected = new HashMap<>(Map.of(
                "gen_ai.operation.name",
                "chat",
                "gen_ai.provider.name",
                "anthropic",
                "gen_ai.request.model",
                "model-latest",
                "gen_ai.request.stream",
                true,
                "gen_ai.response.model",
                "model-1",
                "gen_ai.response.id",
                "msg_1",
                "gen_ai.response.finish_reasons",
                List.of("tool_use"),
                "gen_ai.usage.input_tokens",
                1200L,
                "gen_ai.usage.output_tokens",
                34L,
                "gen_ai.usage.cache_read.input_tokens",
                800L));
        expected.putAll(Map.of(
                "gen_ai.usage.reasoning.output_tokens",
                5L,
                "server.address",
                ToolRun.MODEL,
                "server.port",
                443L,
                "http.response.status_code",
                200L,
                "blackbox.run",
                run.agent.run.run.value(),
                "blackbox.event.index",
                first,
                "blackbox.event.kind",
                "llm.call",
                "blackbox.call.api",
                "anthropic-messages",
                "blackbox.call.complete",
                true,
                "blackbox.call.cost_usd_micros",
                4100L));
        assertEquals(expected, attributes(chat));
        assertEquals(
                List.of("blackbox.response_head", "blackbox.tool_use"),
                chat.getEventsList().stream().map(Span.Event::getName).toList());
        assertEquals(ns(20), chat.getEvents(1).getTimeUnixNano());

        Span tool = otlp.span("execute_tool shell");
        assertEquals(Span.SpanKind.SPAN_KIND_INTERNAL, tool.getKind());
        assertEquals(root.getSpanId(), tool.getParentSpanId());
        assertEquals(ns(20), tool.getStartTimeUnixNano());
        assertEquals(ns(100), tool.getEndTimeUnixNano());
        Map<String, Object> of = attributes(tool);
        assertEquals("execute_tool", of.get("gen_ai.operation.name"));
        assertEquals("use-1", of.get("gen_ai.tool.call.id"));
        assertEquals("function", of.get("gen_ai.tool.type"));
        assertEquals("A", of.get("blackbox.tool.grade"));
        assertEquals(first + 1, of.get("blackbox.event.index"));
        assertEquals(List.of(first + 3), of.get("blackbox.tool.exec_events"));
        assertEquals(chat.getSpanId(), tool.getLinks(0).getSpanId());
        assertEquals(
                "asked", Otlp.attributes(tool.getLinks(0).getAttributesList()).get("blackbox.link"));
        Span last = otlp.spans().get(3);
        assertEquals(tool.getSpanId(), last.getLinks(0).getSpanId());
        assertEquals(
                "result", Otlp.attributes(last.getLinks(0).getAttributesList()).get("blackbox.link"));

        Span mcp = otlp.span("tools/call search");
        assertEquals(Span.SpanKind.SPAN_KIND_CLIENT, mcp.getKind());
        assertEquals(ns(120), mcp.getStartTimeUnixNano());
        assertEquals(ns(125), mcp.getEndTimeUnixNano());
        Map<String, Object> asked = attributes(mcp);
        assertEquals("tools/call", asked.get("mcp.method.name"));
        assertEquals("search", asked.get("gen_ai.tool.name"));
        assertEquals("7", asked.get("jsonrpc.request.id"));
        assertEquals("s-1", asked.get("mcp.session.id"));
        assertEquals(8443L, asked.get("server.port"));
    }

    @Test
    void theResourceSaysWhichRunItIsAndWhatMayBeMissing() throws Exception {
        run.twoTurns();
        RunTrace trace = run.trace(run.agent.recordings(), Content.LEFT_OUT);
        ResourceSpans spans = Otlp.read(written(trace)).resources().getFirst();
        assertEquals(SchemaUrls.V1_41_0, spans.getSchemaUrl());
        assertEquals(SchemaUrls.V1_41_0, spans.getScopeSpans(0).getSchemaUrl());
        Map<String, Object> resource = Otlp.attributes(spans.getResource().getAttributesList());
        assertEquals("blackbox", resource.get("service.name"));
        assertEquals(run.agent.run.run.value(), resource.get("blackbox.run"));
        assertEquals("CLOSED", resource.get("blackbox.run.state"));
        assertEquals(trace.limits(), resource.get("blackbox.limits"));
        assertTrue(trace.limits().stream().anyMatch(each -> each.startsWith("no tracer reported ready")));
        assertTrue(trace.limits().stream().anyMatch(each -> each.startsWith("the span of a tool lasts from")));
    }

    /// A trace that is exported twice is the same one, and another run's spans have other ids.
    @Test
    void idsFollowFromRunAndEvent() throws Exception {
        run.twoTurns();
        Recordings recordings = run.agent.recordings();
        assertEquals(
                written(run.trace(recordings, Content.LEFT_OUT)), written(run.trace(recordings, Content.LEFT_OUT)));
        var ids = new SpanIds(new RunId("7" + "z".repeat(25)));
        assertEquals("f".repeat(32), ids.trace());
        assertEquals("0".repeat(30) + "21", new SpanIds(new RunId("0".repeat(24) + "11")).trace());
        var others = new SpanIds(run.agent.run.run);
        Set<String> all = new HashSet<>();
        for (long index = 0; index < 1000; index++) {
            assertTrue(all.add(ids.span(index)));
            assertTrue(all.add(others.span(index)));
        }
        assertTrue(all.stream().allMatch(id -> id.matches("[0-9a-f]{16}") && !id.equals("0".repeat(16))));
        Otlp otlp = Otlp.read(written(run.trace(recordings, Content.LEFT_OUT)));
        for (Span span : otlp.spans()) {
            assertEquals(others.trace(), Otlp.id(span.getTraceId()));
            assertEquals(others.span(index(span)), Otlp.id(span.getSpanId()));
        }
    }

    @Test
    void contentIsExportedOnlyIfAskedFor() throws Exception {
        run.twoTurns();
        ObjectNode failed = answered(200).put("status", 400);
        failed.putObject("error").put("type", "invalid_request_error").put("message", "I cannot read 'the letter'");
        run.model(210, "anthropic-messages", failed);
        Recordings recordings = run.agent.recordings();
        String without = written(run.trace(recordings, Content.LEFT_OUT));
        assertFalse(without.contains("make install"), without);
        assertFalse(without.contains("the letter"), without);
        Otlp with = Otlp.read(written(run.trace(recordings, Content.INCLUDED)));
        assertEquals(
                "{\"command\":\"make install\"}",
                attributes(with.span("execute_tool shell")).get("gen_ai.tool.call.arguments"));
        Span last = with.spans().getLast();
        assertEquals("I cannot read 'the letter'", last.getStatus().getMessage());
        assertEquals(StatusCode.STATUS_CODE_ERROR, last.getStatus().getCode());
        assertEquals("invalid_request_error", attributes(last).get("error.type"));
    }

    @Test
    void howACallOfAModelFailedIsItsErrorType() throws Exception {
        run.model(20, "openai-chat", answered(10).put("status", 0).put("complete", false));
        run.model(30, "openai-chat", answered(20).put("status", 529).put("complete", false));
        run.model(40, "openai-chat", answered(30).put("complete", false).putNull("outputTokens"));
        ObjectNode untyped = answered(40);
        untyped.putObject("error").putNull("type").put("message", "no");
        run.model(50, "openai-chat", untyped);
        List<Span> spans = run.exported().spans().subList(1, 5);
        assertEquals(
                List.of("no_response", "529", "incomplete", "_OTHER"),
                spans.stream().map(span -> attributes(span).get("error.type")).toList());
        assertTrue(spans.stream().allMatch(span -> span.getStatus().getCode() == StatusCode.STATUS_CODE_ERROR));
        assertNull(attributes(spans.getFirst()).get("http.response.status_code"));
        assertNull(attributes(spans.get(2)).get("gen_ai.usage.output_tokens"), "what nobody said is not made up");
    }

    @Test
    void howARequestToAServerFailedIsItsErrorType() throws Exception {
        ObjectNode refused = request(10, 15);
        refused.putObject("error").put("type", "-32602").put("message", "no");
        run.mcp(20, "tools/call", refused);
        run.mcp(30, "tools/call", request(20, 25).put("toolError", true));
        run.mcp(40, "tools/call", request(30, 35).put("answered", false).putNull("wholeAtNs"));
        run.mcp(
                50,
                "ping",
                request(40, 45).put("status", 404).put("answered", false).putNull("name"));
        ObjectNode notification = request(50, 55).put("status", 202).put("answered", false);
        run.mcp(60, "notifications/initialized", notification.putNull("id").putNull("wholeAtNs"));
        ObjectNode unreadable = request(60, 65).put("answered", false);
        unreadable.putArray("notRead").add("response: a coding that is not known");
        run.mcp(70, "tools/call", unreadable);
        List<Span> spans = run.exported().spans().subList(1, 7);
        var types = spans.stream()
                .map(span -> String.valueOf(attributes(span).get("error.type")))
                .toList();
        assertEquals(List.of("-32602", "tool_error", "incomplete", "404", "null", "null"), types);
        assertEquals("-32602", attributes(spans.getFirst()).get("rpc.response.status_code"));
        assertEquals(ns(40), spans.get(2).getEndTimeUnixNano(), "the end of the exchange, without an answer");
        assertEquals("ping", spans.get(3).getName());
        assertNull(attributes(spans.get(3)).get("gen_ai.operation.name"));
        assertNull(attributes(spans.get(4)).get("jsonrpc.request.id"));
    }

    @Test
    void promptsAndResourcesAreNamedAsSuch() throws Exception {
        run.mcp(20, "prompts/get", request(10, 15).put("id", "\"p-1\"").put("name", "review"));
        run.mcp(30, "resources/read", request(20, 25).put("name", "file:///a/b"));
        Otlp otlp = run.exported();
        Map<String, Object> prompt = attributes(otlp.span("prompts/get review"));
        assertEquals("review", prompt.get("gen_ai.prompt.name"));
        assertEquals("p-1", prompt.get("jsonrpc.request.id"));
        assertEquals("10.0.3.8", prompt.get("server.address"), "its address, where there was no name");
        Map<String, Object> resource = attributes(otlp.span("resources/read"));
        assertEquals("file:///a/b", resource.get("mcp.resource.uri"));
        assertNull(resource.get("gen_ai.tool.name"));
        assertNull(attributes(otlp.span("invoke_agent")).get("gen_ai.provider.name"));
    }

    /// Whose end nobody saw is no span with an end that somebody made up.
    @Test
    void aToolWithoutAResultIsAnEventOfItsCall() throws Exception {
        run.agent.call(
                4000,
                0,
                10,
                30,
                List.of(),
                Use.shell("never", "make", 20),
                new Use("web", "web_search", "{}", 21, false, "server_tool_use"));
        run.agent.start(40, 200, AGENT, "sh", "-c", "make");
        RunTrace trace = run.trace(run.agent.recordings(), Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        assertEquals(2, otlp.spans().size(), otlp::toString);
        assertEquals(new RunTrace.Counts(1, 0, 0, 0, 0), trace.counts());
        Span chat = otlp.span("chat");
        assertEquals(
                List.of("no-result", "by-provider"),
                chat.getEventsList().stream()
                        .map(event -> Otlp.attributes(event.getAttributesList()).get("blackbox.tool.ended"))
                        .toList());
        String limits = String.join("\n", trace.limits());
        assertTrue(limits.contains("1 tools that were asked for have no span, because no request brought"), limits);
        assertTrue(limits.contains("1 tools that were asked for have no span, because the provider ran"), limits);
    }

    @Test
    void whatHasNoTimesHasNoSpan() throws Exception {
        run.model(20, "openai-chat", answered(10).putNull("askedAtNs"));
        run.model(30, "openai-chat", answered(31));
        run.model(40, "openai-chat", answered(30).put("askedAtNs", -1));
        run.mcp(50, "ping", request(48, 47));
        run.mcp(60, null, request(50, 55));
        RunTrace trace = run.trace(run.agent.recordings(), Content.LEFT_OUT);
        assertEquals(new RunTrace.Counts(0, 0, 0, 0, 5), trace.counts());
        assertEquals(1, trace.spans().size());
        String limits = String.join("\n", trace.limits());
        assertTrue(limits.contains("4 calls or tools have no span, because the record does not say when"), limits);
        assertTrue(limits.contains("1 requests to MCP servers have no span"), limits);
    }

    @Test
    void aCallFromWithinAToolIsBelowIt() throws Exception {
        run.agent.call(4000, 0, 10, 30, List.of(), Use.shell("use-1", "agent --task x", 20));
        run.agent.start(40, 200, AGENT, "agent", "--task", "x");
        run.agent.connect(45, 200, AGENT, 4200, ToolRun.MODEL_AT);
        long inner = run.agent.call(4200, 0, 50, 60, List.of());
        run.agent.call(4000, 1, 100, 110, List.of("use-1"));
        Otlp otlp = run.exported();
        Span tool = otlp.span("execute_tool shell");
        Span below = otlp.spans().stream()
                .filter(span -> index(span) == inner)
                .findFirst()
                .orElseThrow();
        assertEquals(tool.getSpanId(), below.getParentSpanId());
        assertEquals("A", attributes(below).get("blackbox.within.grade"));
        assertEquals(otlp.span("invoke_agent").getSpanId(), tool.getParentSpanId());
    }

    @Test
    void aRequestToAServerThatAToolAskedForIsBelowIt() throws Exception {
        run.agent.call(4000, 0, 10, 30, List.of(), Use.of("use-1", "mcp__server__search", "{\"query\":\"a\"}", 20));
        run.agent.connect(40, AGENT, 1, 4000, CallingRun.TOOLS_AT);
        long asked = run.mcp(60, "tools/call", request(50, 55).put("arguments", "{\"query\":\"a\"}"));
        run.agent.call(4000, 1, 100, 110, List.of("use-1"));
        Otlp otlp = run.exported();
        Span mcp = otlp.span("tools/call search");
        assertEquals(otlp.span("execute_tool mcp__server__search").getSpanId(), mcp.getParentSpanId());
        assertEquals("A", attributes(mcp).get("blackbox.within.grade"));
        assertEquals(asked, index(mcp));
    }

    /// The tool within which a call was made has no span if it never ended; the call has one all the same.
    @Test
    void noSpanIsBelowOneThatIsNotThere() throws Exception {
        run.agent.call(4000, 0, 10, 30, List.of(), Use.shell("never", "agent --task x", 20));
        run.agent.start(40, 200, AGENT, "agent", "--task", "x");
        run.agent.connect(45, 200, AGENT, 4200, ToolRun.MODEL_AT);
        run.agent.call(4200, 0, 50, 60, List.of());
        Otlp otlp = run.exported();
        Set<Object> ids = otlp.spans().stream().map(Span::getSpanId).collect(Collectors.toSet());
        Span root = otlp.span("invoke_agent");
        for (Span span : otlp.spans()) {
            assertTrue(span.equals(root) || ids.contains(span.getParentSpanId()), span::toString);
            assertTrue(span.getLinksList().stream().allMatch(link -> ids.contains(link.getSpanId())), span::toString);
        }
    }

    /// A model's name may be anything that a guest wrote.
    @Test
    void textThatIsNoUnicodeIsMended() throws Exception {
        run.model(20, "openai-chat", answered(10).put("requestModel", "mLONE\u0007\n" + "x".repeat(500)));
        Otlp otlp = run.exported();
        Span chat = otlp.spans().getLast();
        assertEquals("m\ufffd\u0007\n" + "x".repeat(500), attributes(chat).get("gen_ai.request.model"));
        assertTrue(chat.getName().startsWith("chat m\ufffd\\x07\\x0axxx"), chat::getName);
        assertTrue(chat.getName().length() < 150, chat::getName);
    }

    @Test
    void theOperationIsThatOfTheApi() throws Exception {
        run.model(20, "google-generate-content", answered(10));
        run.model(30, "ollama-generate", answered(20));
        run.model(40, "bedrock-converse", answered(30));
        Otlp otlp = run.exported();
        assertEquals(
                List.of("generate_content model-latest", "text_completion model-latest", "chat model-latest"),
                otlp.spans().stream().skip(1).map(Span::getName).toList());
    }

    /// A receiver takes lines one by one, and no more than so much at once.
    @Test
    void manySpansAreSeveralLinesOfTheSameResource() throws Exception {
        for (int i = 0; i < 1200; i++) {
            run.model(20 + i, "openai-chat", answered(10 + i));
        }
        String lines = written(run.trace(run.agent.recordings(), Content.LEFT_OUT));
        Otlp otlp = Otlp.read(lines);
        assertEquals(1201, otlp.spans().size());
        assertEquals(19, lines.lines().count());
        assertEquals(
                1,
                otlp.resources().stream()
                        .map(ResourceSpans::getResource)
                        .distinct()
                        .count());
        assertTrue(lines.lines().allMatch(line -> line.getBytes(StandardCharsets.UTF_8).length < 1 << 20));
    }

    @Test
    void beyondTheLimitNothingIsExportedSilently() throws Exception {
        for (int i = 0; i < 10; i++) {
            run.model(20 + i, "openai-chat", answered(10 + i));
        }
        RunTrace trace =
                RunTrace.collect(run.agent.recordings(), run.agent.run.run, Content.LEFT_OUT, Programs.LEFT_OUT, 3_000);
        assertTrue(trace.counts().models() > 0 && trace.counts().models() < 10, trace.counts()::toString);
        assertEquals(trace.counts().models() + 1, trace.spans().size());
        long beyond = 10 - trace.counts().models();
        assertTrue(
                trace.limits().stream().anyMatch(each -> each.startsWith(beyond + " calls or tools have no span")),
                trace.limits()::toString);
    }

    @Test
    void aRunWithoutAnEndEndsWithItsLastEvent() throws Exception {
        run.model(20, "openai-chat", answered(10));
        run.agent.run.seal();
        run.agent.run.spool(0, run.agent.run.batches.size());
        RunTrace trace = run.trace(Recordings.unchecked(run.agent.run.data), Content.LEFT_OUT);
        Otlp otlp = Otlp.read(written(trace));
        Span root = otlp.span("invoke_agent");
        assertEquals(ns(21), root.getEndTimeUnixNano(), "the heartbeat of its last batch");
        assertNull(attributes(root).get("process.exit.code"));
        assertTrue(trace.limits().stream().anyMatch(each -> each.startsWith("the recording ends without a close")));
    }

    @Test
    void anAgentThatFailedIsAnError() throws Exception {
        run.model(20, "openai-chat", answered(10));
        run.agent.run.close(3);
        run.agent.run.spool(0, run.agent.run.batches.size());
        Span root = Otlp.read(written(run.trace(Recordings.unchecked(run.agent.run.data), Content.LEFT_OUT)))
                .span("invoke_agent");
        assertEquals(3L, attributes(root).get("process.exit.code"));
        assertEquals("exit_3", attributes(root).get("error.type"));
        assertEquals(StatusCode.STATUS_CODE_ERROR, root.getStatus().getCode());
    }
}
