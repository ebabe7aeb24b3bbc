package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.calls.Call;
import blackbox.calls.ModelCall;
import blackbox.calls.read.CallReader;
import blackbox.calls.read.CallRecognizer;
import blackbox.calls.rpc.RpcException;
import blackbox.calls.rpc.RpcMessage;
import blackbox.calls.rpc.RpcReader;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// HTTP exchanges with models and tools, whose both sides are strangers.
final class CallTargets {
    private static final List<String> PATHS = List.of(
            "/v1/messages",
            "/v1/chat/completions",
            "/v1/responses",
            "/v1/models/m:streamGenerateContent",
            "/model/m/converse-stream",
            "/model/m/invoke-with-response-stream",
            "/api/chat",
            "/mcp");
    private static final List<String> TYPES =
            List.of("application/json", "text/event-stream", "application/vnd.amazon.eventstream", "");
    private static final List<String> CODINGS = List.of("identity", "gzip", "zstd", "deflate");

    private CallTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("calls", 8 << 10, CallTargets::calls, CallTargets::exchanges),
                FuzzTarget.of("json-rpc", 4 << 10, CallTargets::rpc, CallTargets::messages, RpcException.class));
    }

    /// What is accepted, another reader of JSON reads as the same calls.
    private static boolean rpc(byte[] octets) throws RpcException, IOException {
        List<RpcMessage> messages = RpcReader.read(octets);
        JsonNode tree = new ObjectMapper().readTree(octets);
        ensure(messages.size() == (tree.isArray() ? tree.size() : 1), "other messages");
        for (int i = 0; i < messages.size(); i++) {
            JsonNode message = tree.isArray() ? tree.path(i) : tree;
            RpcMessage read = messages.get(i);
            ensure(Objects.equals(read.method(), message.path("method").textValue()), "another method");
            ensure(
                    Objects.equals(
                            read.name(), message.path("params").path("name").textValue()),
                    "another name");
            ensure(
                    (read.id() == null) == message.path("id").isMissingNode()
                            || message.path("id").isNull(),
                    "an id");
        }
        return true;
    }

    private static Map<String, byte[]> messages() {
        String call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                + "\"params\":{\"name\":\"f\",\"arguments\":{\"a\":[1.5e3,null,true]}}}";
        String answer = "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"content\":[]}}";
        return Map.of(
                "call", call.getBytes(StandardCharsets.UTF_8),
                "batch", ("[" + call + "," + answer + "]").getBytes(StandardCharsets.UTF_8));
    }

    /// Octets: the path, the response's type and its coding, the size of pieces, the request up to a 0, the response.
    private static boolean calls(byte[] octets) {
        if (octets.length < 4) {
            return false;
        }
        int end = 4;
        while (end < octets.length && octets[end] != 0) {
            end++;
        }
        byte[] request = Arrays.copyOfRange(octets, 4, end);
        byte[] response = Arrays.copyOfRange(octets, Math.min(octets.length, end + 1), octets.length);
        List<Call> whole = read(octets, request, response, Integer.MAX_VALUE);
        int piece = 1 + (octets[3] & 0xff);
        ensure(whole.equals(read(octets, request, response, piece)), "it depends on how the octets are divided");
        ensure(whole.equals(read(octets, request, response, 1)), "it depends on how the octets are divided");
        for (Call call : whole) {
            if (call instanceof ModelCall model) {
                model.response()
                        .toolUses()
                        .forEach(use -> ensure(
                                use.endOffset() > 0
                                        && use.endOffset() <= model.response().octets(),
                                "a tool use ends outside of the response"));
            }
        }
        return !whole.isEmpty() && whole.getFirst().notRead().isEmpty();
    }

    private static List<Call> read(byte[] choice, byte[] request, byte[] response, int piece) {
        String path = PATHS.get((choice[0] & 0xff) % PATHS.size());
        try (CallReader reader =
                CallRecognizer.of("POST", path, name -> name.equals("content-type") ? "application/json" : null)) {
            if (reader == null) {
                throw new AssertionError("no reader for " + path);
            }
            for (int at = 0; at < request.length; at += Math.min(piece, request.length - at)) {
                reader.request(request, at, at + Math.min(piece, request.length - at));
            }
            reader.responseHead(200, name -> switch (name) {
                case "content-type" -> TYPES.get((choice[1] & 0xff) % TYPES.size());
                case "content-encoding" -> CODINGS.get((choice[2] & 0xff) % CODINGS.size());
                default -> null;
            });
            for (int at = 0; at < response.length; at += Math.min(piece, response.length - at)) {
                reader.response(response, at, at + Math.min(piece, response.length - at));
            }
            return reader.finish();
        }
    }

    private static Map<String, byte[]> exchanges() {
        String messages =
                "{\"model\":\"m\",\"messages\":[{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\"}]}]}";
        return Map.of(
                "anthropic",
                exchange(
                        0,
                        1,
                        messages,
                        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
                                + "\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n"
                                + "data: {\"type\":\"content_block_delta\",\"index\":0,"
                                + "\"delta\":{\"partial_json\":\"{\\\"a\\\":1}\"}}\r\n\r\n"
                                + "data: {\"type\":\"message_stop\"}\n\n"),
                "openai",
                exchange(
                        1,
                        1,
                        messages,
                        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
                                + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n"),
                "responses",
                exchange(
                        2,
                        0,
                        "{\"model\":\"m\",\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c\"}]}",
                        "{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"c\","
                                + "\"name\":\"f\",\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":1}}"),
                "google",
                exchange(
                        3,
                        0,
                        "{\"contents\":[{\"parts\":[{\"functionResponse\":{\"name\":\"f\"}}]}]}",
                        "[{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\","
                                + "\"args\":{\"a\":1}}}]}}]},\n{\"usageMetadata\":{\"promptTokenCount\":3}}]"),
                "ollama",
                exchange(6, 0, messages, """
                        {"message":{"tool_calls":[{"function":{"name":"f","arguments":{}}}]}}
                        {"done":true,"eval_count":1}
                        """),
                "mcp",
                exchange(
                        7,
                        3,
                        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"f\"}}]",
                        "data: {\"id\":1,\"result\":{\"isError\":false}}\n\n"));
    }

    private static byte[] exchange(int path, int type, String request, String response) {
        return ("" + (char) path + (char) type + "\0\6" + request + "\0" + response)
                .getBytes(StandardCharsets.ISO_8859_1);
    }
}
