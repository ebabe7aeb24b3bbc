package blackbox.node.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.stream.StreamSupport;

/// Anthropic's Messages API.
final class MessagesModel implements FakeModel {
    private static final int PIECE = 30;

    @Override
    public String provider() {
        return "anthropic";
    }

    @Override
    public String model() {
        return "claude-sonnet-4-5";
    }

    @Override
    public String keyName() {
        return "ANTHROPIC_API_KEY";
    }

    @Override
    public String host() {
        return "api.anthropic.com";
    }

    @Override
    public String path() {
        return "/v1/messages";
    }

    @Override
    public String toolPrefix() {
        return "toolu_";
    }

    @Override
    public String answerPrefix() {
        return "msg_";
    }

    @Override
    public long results(JsonNode question) {
        return StreamSupport.stream(question.path("messages").spliterator(), false)
                .flatMap(message -> StreamSupport.stream(message.path("content").spliterator(), false))
                .filter(each -> each.path("type").asText().equals("tool_result"))
                .count();
    }

    @Override
    public void askFor(OutputStream out, int turn, String tool, String arguments) throws IOException {
        begin(out, turn);
        ObjectNode block = JSON.createObjectNode()
                .put("type", "tool_use")
                .put("id", toolPrefix() + turn)
                .put("name", tool);
        block.putObject("input");
        FakeModel.send(out, "content_block_start", block0().set("content_block", block));
        for (int at = 0; at < arguments.length(); at += PIECE) {
            delta(
                    out,
                    "input_json_delta",
                    "partial_json",
                    arguments.substring(at, Math.min(arguments.length(), at + PIECE)));
        }
        end(out, "tool_use");
    }

    @Override
    public void sayDone(OutputStream out, int turn) throws IOException {
        begin(out, turn);
        FakeModel.send(
                out,
                "content_block_start",
                block0().set(
                                "content_block",
                                JSON.createObjectNode().put("type", "text").put("text", "")));
        delta(out, "text_delta", "text", "Done.");
        end(out, "end_turn");
    }

    private void begin(OutputStream out, int turn) throws IOException {
        ObjectNode message = JSON.createObjectNode()
                .put("id", answerPrefix() + turn)
                .put("type", "message")
                .put("role", "assistant")
                .put("model", model())
                .putNull("stop_reason")
                .putNull("stop_sequence");
        message.putArray("content");
        message.putObject("usage").put("input_tokens", 100).put("output_tokens", 1);
        FakeModel.send(out, "message_start", JSON.createObjectNode().set("message", message));
    }

    private static ObjectNode block0() {
        return JSON.createObjectNode().put("index", 0);
    }

    private static void delta(OutputStream out, String type, String field, String text) throws IOException {
        FakeModel.send(
                out,
                "content_block_delta",
                block0().set("delta", JSON.createObjectNode().put("type", type).put(field, text)));
    }

    private static void end(OutputStream out, String reason) throws IOException {
        FakeModel.send(out, "content_block_stop", block0());
        ObjectNode last = JSON.createObjectNode();
        last.putObject("delta").put("stop_reason", reason).putNull("stop_sequence");
        last.putObject("usage").put("output_tokens", 20);
        FakeModel.send(out, "message_delta", last);
        FakeModel.send(out, "message_stop", JSON.createObjectNode());
    }
}
