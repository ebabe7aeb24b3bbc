package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import java.util.List;

/// Ollama's own API: each line of a stream is an answer.
final class Ollama implements Dialect {
    private static final Shape CALL = Shape.object()
            .texts(WORD_CHARS_MAX, "id")
            .with(
                    "function",
                    Shape.object()
                            .texts(WORD_CHARS_MAX, "name")
                            .with("arguments", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX)));

    @Override
    public Shape request() {
        Shape message = Shape.object().texts(WORD_CHARS_MAX, "role", "tool_call_id", "tool_name", "name");
        return Shape.object()
                .texts(WORD_CHARS_MAX, "model")
                .scalars("stream")
                .with("messages", Shape.each("messages", message));
    }

    @Override
    public void requestElement(Json message, Draft draft) {
        draft.message();
        if ("tool".equals(message.text("role"))) {
            String id = message.text("tool_call_id");
            String name = message.text("tool_name");
            draft.toolResult(id != null ? id : name != null ? name : message.text("name"));
        }
    }

    @Override
    public boolean request(Json request, Draft draft) {
        draft.requestModel(request.text("model"));
        draft.stream(request.get("stream"));
        return request.text("model") != null;
    }

    @Override
    public Shape response() {
        return Shape.object()
                .texts(WORD_CHARS_MAX, "model", "done_reason")
                .texts(MESSAGE_CHARS_MAX, "error")
                .scalars("done", "prompt_eval_count", "eval_count")
                .with("message", Shape.object().with("tool_calls", Shape.list(CALL)));
    }

    @Override
    public void responseElement(Json element, long index, long end, Draft draft) {}

    @Override
    public void response(Json line, long end, Draft draft) {
        draft.response(null, line.text("model"));
        draft.stopReason(line.text("done_reason"));
        draft.counts().input(line.count("prompt_eval_count")).output(line.count("eval_count"));
        Json message = line.get("message");
        for (Json call : message == null ? List.<Json>of() : message.list("tool_calls")) {
            Json function = call.get("function");
            long index = draft.toolUseCount();
            DraftedUse use = function == null ? null : draft.toolUse(Long.toString(index), index, "function");
            if (use != null && function != null) {
                use.named(call.text("id"), function.text("name"))
                        .piece(function.get("arguments"))
                        .until(end)
                        .complete();
            }
        }
        String error = line.text("error");
        draft.error(null, error);
        if (error != null || line.get("done") instanceof Json.Bool(boolean done) && done) {
            draft.complete();
        }
    }

    @Override
    public boolean isLines() {
        return true;
    }

    @Override
    public Shape event() {
        return response();
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        response(data, end, draft);
    }
}
