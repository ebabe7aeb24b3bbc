package blackbox.calls.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.calls.Api;
import blackbox.calls.Arguments;
import blackbox.calls.Call;
import blackbox.calls.CallError;
import blackbox.calls.McpCall;
import blackbox.calls.ModelCall;
import blackbox.calls.ToolUse;
import blackbox.calls.Usage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What is read of exchanges as the documentation of each API has them.
class ExchangesTest {
    private static ModelCall model(String name) {
        Exchange exchange = Exchange.named(name);
        List<Call> calls = exchange.read();
        assertEquals(1, calls.size());
        ModelCall call = (ModelCall) calls.getFirst();
        assertEquals(exchange.status(), call.response().status());
        assertEquals(exchange.response().length, call.response().octets());
        return call;
    }

    /// How many octets of the response there are up to the end of the text that is given.
    private static long upTo(String name, String text) {
        String response = new String(Exchange.named(name).response(), StandardCharsets.UTF_8);
        int at = response.indexOf(text);
        assertTrue(at >= 0, text);
        return response.substring(0, at + text.length()).getBytes(StandardCharsets.UTF_8).length;
    }

    private static ToolUse use(
            long index, String type, @Nullable String id, String name, @Nullable String arguments, long end) {
        return new ToolUse(
                index, type, id, name, arguments == null ? null : new Arguments(arguments, false), true, end);
    }

    private static ModelCall.Request request(
            @Nullable String model, @Nullable Boolean stream, @Nullable Long messages, String... toolResults) {
        return new ModelCall.Request(model, stream, messages, List.of(toolResults), 0);
    }

    private static void assertWhole(ModelCall call) {
        assertTrue(call.response().complete());
        assertNull(call.response().error());
        assertEquals(List.of(), call.notRead());
    }

    @Test
    void anthropicJson() {
        ModelCall call = model("anthropic-json");
        assertWhole(call);
        assertEquals(Api.ANTHROPIC_MESSAGES, call.api());
        assertEquals("anthropic", call.api().provider());
        assertEquals(request("claude-sonnet-4-5", null, 3L, "toolu_01"), call.request());
        assertEquals("msg_01A", call.response().id());
        assertEquals("claude-sonnet-4-5-20250929", call.response().model());
        assertEquals("tool_use", call.response().stopReason());
        assertEquals(new Usage(2572L, 89L, 2000L, 100L, null), call.response().usage());
        assertEquals(
                List.of(
                        use(
                                1,
                                "tool_use",
                                "toolu_02",
                                "bash",
                                "{\"command\":\"cat /tmp/a\",\"z\":[1,2.50,-3e2,true,null]}",
                                upTo("anthropic-json", "\"cat /tmp/a\"}}")),
                        use(
                                2,
                                "server_tool_use",
                                "srvtoolu_01",
                                "web_search",
                                "{\"query\":\"x\"}",
                                upTo("anthropic-json", "\"query\":\"x\"}}")),
                        use(3, "tool_use", "toolu_03", "read", "{}", upTo("anthropic-json", "\"read\",\"input\":{}}"))),
                call.response().toolUses());
    }

    @Test
    void anthropicStream() {
        ModelCall call = model("anthropic-stream");
        assertWhole(call);
        assertEquals(request("claude-sonnet-4-5", true, 1L), call.request());
        assertEquals("msg_01B", call.response().id());
        assertEquals("tool_use", call.response().stopReason());
        assertEquals(new Usage(32L, 89L, 7L, 0L, null), call.response().usage());
        assertEquals(
                List.of(
                        use(
                                1,
                                "tool_use",
                                "toolu_1",
                                "bash",
                                "{\"a\":1,\"command\":\"ls -l\"}",
                                upTo("anthropic-stream", "\"content_block_stop\",\"index\":1}\n\n")),
                        use(
                                2,
                                "tool_use",
                                "toolu_2",
                                "read",
                                "{\"path\":\"/a\"}",
                                upTo("anthropic-stream", "\"content_block_stop\",\"index\":2}\n\n"))),
                call.response().toolUses());
    }

    @Test
    void anthropicErrors() {
        ModelCall refused = model("anthropic-overloaded");
        assertEquals(
                new CallError("overloaded_error", "Overloaded"),
                refused.response().error());
        assertTrue(refused.response().complete());
        assertEquals(Usage.UNKNOWN, refused.response().usage());
        ModelCall midway = model("anthropic-error-event");
        assertEquals(
                new CallError("overloaded_error", "Overloaded"),
                midway.response().error());
        assertFalse(midway.response().complete());
        assertEquals(25L, midway.response().usage().inputTokens());
    }

    @Test
    void openAiChatJson() {
        ModelCall call = model("openai-chat-json");
        assertWhole(call);
        assertEquals(request("gpt-5", null, 4L, "call_0"), call.request());
        assertEquals("chatcmpl-1", call.response().id());
        assertEquals("gpt-5-2025-08-07", call.response().model());
        assertEquals("tool_calls", call.response().stopReason());
        assertEquals(new Usage(82L, 17L, 64L, null, 9L), call.response().usage());
        long end = upTo("openai-chat-json", "\"finish_reason\":\"tool_calls\"}");
        assertEquals(
                List.of(
                        use(0, "function", "call_1", "get_weather", "{\"location\":\"Paris\"}", end),
                        use(1, "custom", "call_2", "patch", "*** Begin\nno JSON", end)),
                call.response().toolUses());
    }

    @Test
    void openAiChatStreamOfParallelCalls() {
        ModelCall call = model("openai-chat-stream");
        assertWhole(call);
        assertEquals(Api.OPENAI_CHAT, call.api());
        assertEquals(new Usage(10L, 20L, null, null, null), call.response().usage());
        long end = upTo("openai-chat-stream", "\\\"CET\\\"}\"}}]},\"finish_reason\":null}]}\n\n");
        assertEquals(
                List.of(
                        use(0, "function", "call_a", "get_weather", "{\"city\":\"Oslo\"}", end),
                        use(1, "function", "call_b", "get_time", "{\"tz\":\"CET\"}", end)),
                call.response().toolUses());
    }

    @Test
    void openAiErrors() {
        ModelCall call = model("openai-rate-limit");
        assertEquals(
                new CallError("requests", "Rate limit reached"), call.response().error());
        assertNull(call.response().id());
    }

    @Test
    void openAiResponsesJson() {
        ModelCall call = model("openai-responses-json");
        assertWhole(call);
        assertEquals(request("gpt-5-codex", null, 4L, "call_0", "call_9"), call.request());
        assertEquals("completed", call.response().stopReason());
        assertEquals(new Usage(328L, 52L, 128L, null, 30L), call.response().usage());
        assertEquals(
                List.of(
                        use(
                                1,
                                "function_call",
                                "call_1",
                                "shell",
                                "{\"command\":[\"ls\"]}",
                                upTo("openai-responses-json", "[\\\"ls\\\"]}\",\"status\":\"completed\"}")),
                        new ToolUse(
                                2,
                                "web_search_call",
                                "ws_1",
                                null,
                                new Arguments("{\"query\":\"x\",\"type\":\"search\"}", false),
                                true,
                                upTo("openai-responses-json", "\"query\":\"x\"}}"))),
                call.response().toolUses());
    }

    @Test
    void openAiResponsesStream() {
        ModelCall call = model("openai-responses-stream");
        assertWhole(call);
        assertEquals(request("gpt-5-codex", true, 1L), call.request());
        assertEquals("resp_2", call.response().id());
        assertEquals(new Usage(5L, 7L, 0L, null, 0L), call.response().usage());
        assertEquals(
                List.of(
                        use(
                                0,
                                "function_call",
                                "call_1",
                                "shell",
                                "{\"command\":\"ls\"}",
                                upTo("openai-responses-stream", "\\\"ls\\\"}\",\"status\":\"completed\"}}\n\n")),
                        use(
                                1,
                                "custom_tool_call",
                                "call_2",
                                "apply_patch",
                                "*** Begin",
                                upTo("openai-responses-stream", "\"input\":\"*** Begin\"}}\n\n"))),
                call.response().toolUses());
    }

    @Test
    void googleJson() {
        ModelCall call = model("google-json");
        assertWhole(call);
        assertEquals("gcp.gen_ai", call.api().provider());
        assertEquals(request("gemini-2.5-pro", false, 3L, "f", "fc-7"), call.request());
        assertEquals("r-1", call.response().id());
        assertEquals("STOP", call.response().stopReason());
        assertEquals(new Usage(25L, 26L, 4L, null, 20L), call.response().usage());
        long end = upTo("google-json", "\"r-1\"}");
        assertEquals(
                List.of(
                        use(0, "functionCall", null, "get_weather", "{\"a\":\"x\",\"b\":1}", end),
                        use(1, "functionCall", "fc-8", "get_time", "{}", end)),
                call.response().toolUses());
    }

    @Test
    void googleStreams() {
        ModelCall array = model("google-array");
        assertWhole(array);
        assertEquals(request("gemini-2.5-flash", true, 1L), array.request());
        assertEquals(new Usage(3L, 8L, null, null, null), array.response().usage());
        assertEquals(
                List.of(use(0, "functionCall", null, "f", "{\"n\":1}", upTo("google-array", "\"r-2\"}"))),
                array.response().toolUses());
        ModelCall events = model("google-stream");
        assertWhole(events);
        assertEquals(request("gemini-2.5-pro", true, 1L), events.request());
        assertEquals(
                List.of(
                        use(
                                0,
                                "functionCall",
                                "1",
                                "f",
                                "{\"n\":1}",
                                upTo("google-stream", "\"gemini-2.5-pro\"}}\n\n")),
                        use(1, "functionCall", "2", "g", "{}", events.response().octets())),
                events.response().toolUses());
        assertEquals(
                new CallError("RESOURCE_EXHAUSTED", "Quota exceeded"),
                model("google-exhausted").response().error());
    }

    @Test
    void bedrockConverse() {
        ModelCall call = model("bedrock-converse");
        assertWhole(call);
        assertEquals("aws.bedrock", call.api().provider());
        assertEquals(
                request("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude", false, 3L, "t0"),
                call.request());
        assertEquals(new Usage(15L, 38L, 5L, 6L, null), call.response().usage());
        assertEquals(
                List.of(use(1, "toolUse", "t1", "g", "{\"a\":1,\"b\":2}", upTo("bedrock-converse", "\"t1\"}}"))),
                call.response().toolUses());
    }

    @Test
    void bedrockStreams() {
        ModelCall converse = model("bedrock-converse-stream");
        assertWhole(converse);
        assertEquals(request("anthropic.claude-v1:0", true, 1L), converse.request());
        assertEquals(new Usage(4L, 9L, null, null, null), converse.response().usage());
        assertEquals(
                List.of(use(1, "toolUse", "tooluse_1", "g", "{\"a\":1}", frameEnd("bedrock-converse-stream"))),
                converse.response().toolUses());
        ModelCall invoke = model("bedrock-invoke-stream");
        assertWhole(invoke);
        assertEquals(Api.BEDROCK_INVOKE, invoke.api());
        assertEquals(new Usage(8L, 12L, null, null, null), invoke.response().usage());
        assertEquals("toolu_bdrk_1", invoke.response().toolUses().getFirst().id());
        assertEquals(
                new Arguments("{\"a\":1}", false),
                invoke.response().toolUses().getFirst().arguments());
        assertEquals("msg_bdrk_1", model("bedrock-invoke").response().id());
    }

    /// Where the frame `contentBlockStop` ends.
    private static long frameEnd(String name) {
        String response = new String(Exchange.named(name).response(), StandardCharsets.ISO_8859_1);
        String payload = "{\"contentBlockIndex\":1,\"p\":\"abc\"}";
        return (long) response.indexOf(payload) + payload.length() + 4;
    }

    @Test
    void bedrockErrors() {
        ModelCall midway = model("bedrock-exception");
        assertEquals(
                new CallError("throttlingException", "Too many requests"),
                midway.response().error());
        assertFalse(midway.response().complete());
        assertEquals(
                new CallError("AccessDeniedException", "You don't have access to the model"),
                model("bedrock-refused").response().error());
    }

    @Test
    void ollama() {
        ModelCall chat = model("ollama-chat");
        assertWhole(chat);
        assertEquals("ollama", chat.api().provider());
        assertEquals(request("qwen3", null, 2L, "f"), chat.request());
        assertEquals("stop", chat.response().stopReason());
        assertEquals(new Usage(169L, 15L, null, null, null), chat.response().usage());
        assertEquals(
                List.of(use(
                        0,
                        "function",
                        null,
                        "get_weather",
                        "{\"city\":\"Toronto\",\"format\":\"celsius\"}",
                        upTo("ollama-chat", "\"done\":false}"))),
                chat.response().toolUses());
        ModelCall generate = model("ollama-generate");
        assertWhole(generate);
        assertEquals(request("llama3", false, null), generate.request());
        assertEquals(new Usage(26L, 298L, null, null, null), generate.response().usage());
        assertEquals(
                new CallError(null, "model 'nothing' not found"),
                model("ollama-error").response().error());
    }

    @Test
    void mcp() {
        Exchange exchange = Exchange.named("mcp-json");
        assertEquals(
                List.of(new McpCall(
                        "s-1",
                        "7",
                        "tools/call",
                        "query",
                        new Arguments("{\"a\":[],\"sql\":\"select 1\"}", false),
                        200,
                        new McpCall.Answer(false, null, upTo("mcp-json", "\"isError\":false}}")),
                        List.of())),
                exchange.read());
        assertEquals(
                List.of(new McpCall(
                        "s-2",
                        "\"a\\\"1\"",
                        "tools/call",
                        "query",
                        new Arguments("{}", false),
                        200,
                        new McpCall.Answer(
                                true, null, Exchange.named("mcp-stream").response().length),
                        List.of())),
                Exchange.named("mcp-stream").read());
        assertEquals(
                List.of(
                        new McpCall(
                                null,
                                "1",
                                "resources/read",
                                "file:///a",
                                null,
                                200,
                                new McpCall.Answer(null, null, upTo("mcp-batch", "\"contents\":[]}}")),
                                List.of()),
                        new McpCall(null, null, "notifications/cancelled", null, null, 200, null, List.of()),
                        new McpCall(
                                null,
                                "2",
                                "custom/method",
                                null,
                                null,
                                200,
                                new McpCall.Answer(
                                        null,
                                        new CallError("-32601", "Method not found"),
                                        upTo("mcp-batch", "\"Method not found\"}}")),
                                List.of())),
                Exchange.named("mcp-batch").read());
    }

    @Test
    void whatIsNoCall() {
        assertNull(CallRecognizer.of("GET", "/v1/messages", name -> null));
        assertNull(CallRecognizer.of("POST", "/v1/messages/count_tokens", name -> null));
        assertNull(CallRecognizer.of("POST", "/upload", name -> "text/plain"));
        assertEquals(
                List.of(),
                Exchange.of("/survey/responses", "{\"answer\":1}", "application/json", new byte[0])
                        .read());
        assertEquals(
                List.of(),
                Exchange.of(
                                "/rpc",
                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_call\"}",
                                "application/json",
                                new byte[0])
                        .read());
    }
}
