package blackbox.node.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.stream.StreamSupport;

/// OpenAI's Responses API.
final class ResponsesModel implements FakeModel {
    private static final int PIECE = 30;

    @Override
    public String provider() {
        return "openai";
    }

    @Override
    public String model() {
        return "gpt-4.1";
    }

    @Override
    public String keyName() {
        return "OPENAI_API_KEY";
    }

    @Override
    public String host() {
        return "api.openai.com";
    }

    @Override
    public String path() {
        return "/v1/responses";
    }

    @Override
    public String toolPrefix() {
        return "call_";
    }

    @Override
    public String answerPrefix() {
        return "resp_";
    }

    @Override
    public long results(JsonNode question) {
        return StreamSupport.stream(question.path("input").spliterator(), false)
                .filter(each -> each.path("type").asText().equals("function_call_output"))
                .count();
    }

    @Override
    public void askFor(OutputStream out, int turn, String tool, String arguments) throws IOException {
        new Stream(out, turn).tool(tool, arguments);
    }

    @Override
    public void sayDone(OutputStream out, int turn) throws IOException {
        new Stream(out, turn).text();
    }

    /// One answer's events, which are numbered.
    private final class Stream {
        private final OutputStream out;
        private final int turn;
        private final ObjectNode response;
        private int number;

        Stream(OutputStream out, int turn) throws IOException {
            this.out = out;
            this.turn = turn;
            response = JSON.createObjectNode()
                    .put("id", answerPrefix() + turn)
                    .put("object", "response")
                    .put("status", "in_progress")
                    .put("model", model());
            response.putArray("output");
            event("response.created", JSON.createObjectNode().set("response", response));
        }

        void tool(String tool, String arguments) throws IOException {
            String id = "fc_" + turn;
            ObjectNode item = JSON.createObjectNode()
                    .put("id", id)
                    .put("type", "function_call")
                    .put("status", "in_progress")
                    .put("arguments", "")
                    .put("call_id", toolPrefix() + turn)
                    .put("name", tool);
            item("response.output_item.added", item);
            for (int at = 0; at < arguments.length(); at += PIECE) {
                String piece = arguments.substring(at, Math.min(arguments.length(), at + PIECE));
                event("response.function_call_arguments.delta", of(id).put("delta", piece));
            }
            event("response.function_call_arguments.done", of(id).put("arguments", arguments));
            item.put("status", "completed").put("arguments", arguments);
            complete(item);
        }

        void text() throws IOException {
            ObjectNode item = JSON.createObjectNode()
                    .put("id", "msg_1")
                    .put("type", "message")
                    .put("status", "in_progress")
                    .put("role", "assistant");
            item.putArray("content");
            item("response.output_item.added", item);
            ObjectNode part = JSON.createObjectNode().put("type", "output_text").put("text", "");
            part.putArray("annotations");
            event("response.content_part.added", content().set("part", part));
            event("response.output_text.delta", content().put("delta", "Done."));
            event("response.output_text.done", content().put("text", "Done."));
            item.put("status", "completed")
                    .putArray("content")
                    .add(part.deepCopy().put("text", "Done."));
            complete(item);
        }

        private void complete(ObjectNode item) throws IOException {
            item("response.output_item.done", item);
            response.put("status", "completed").putArray("output").add(item);
            response.putObject("usage")
                    .put("input_tokens", 100)
                    .put("output_tokens", 20)
                    .put("total_tokens", 120);
            event("response.completed", JSON.createObjectNode().set("response", response));
        }

        private ObjectNode content() {
            return of("msg_1").put("content_index", 0);
        }

        private ObjectNode of(String item) {
            return JSON.createObjectNode().put("item_id", item).put("output_index", 0);
        }

        private void item(String type, ObjectNode item) throws IOException {
            ObjectNode event = JSON.createObjectNode().put("output_index", 0);
            event(type, event.set("item", item.deepCopy()));
        }

        private void event(String type, ObjectNode event) throws IOException {
            FakeModel.send(out, type, event.put("sequence_number", number++));
        }
    }
}
