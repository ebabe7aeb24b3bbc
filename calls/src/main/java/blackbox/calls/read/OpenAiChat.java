package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import org.jspecify.annotations.Nullable;

/// OpenAI's Chat Completions, as many others serve them.
final class OpenAiChat implements Dialect {
    static final Shape ERROR =
            Shape.text(MESSAGE_CHARS_MAX).texts(WORD_CHARS_MAX, "type", "code").texts(MESSAGE_CHARS_MAX, "message");
    private static final Shape FUNCTION = Shape.object()
            .texts(WORD_CHARS_MAX, "name")
            .with("arguments", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX))
            .with("input", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX));
    private static final Shape TOOL_CALL = Shape.object()
            .texts(WORD_CHARS_MAX, "id", "type")
            .scalars("index")
            .with("function", FUNCTION)
            .with("custom", FUNCTION);
    private static final Shape SAID =
            Shape.object().with("tool_calls", Shape.list(TOOL_CALL)).with("function_call", FUNCTION);
    private static final Shape CHOICE = Shape.object()
            .scalars("index")
            .texts(WORD_CHARS_MAX, "finish_reason")
            .with("message", SAID)
            .with("delta", SAID);
    private static final Shape ANSWER = Shape.object()
            .texts(WORD_CHARS_MAX, "id", "model", "object", "type", "code")
            .texts(MESSAGE_CHARS_MAX, "message")
            .with(
                    "usage",
                    Shape.object()
                            .scalars("prompt_tokens", "completion_tokens")
                            .with("prompt_tokens_details", Shape.object().scalars("cached_tokens"))
                            .with("completion_tokens_details", Shape.object().scalars("reasoning_tokens")))
            .with("error", ERROR);

    @Override
    public Shape request() {
        return Shape.object()
                .texts(WORD_CHARS_MAX, "model")
                .scalars("stream")
                .with("messages", Shape.each("messages", Shape.object().texts(WORD_CHARS_MAX, "role", "tool_call_id")));
    }

    @Override
    public void requestElement(Json message, Draft draft) {
        draft.message();
        if ("tool".equals(message.text("role"))) {
            draft.toolResult(message.text("tool_call_id"));
        }
    }

    @Override
    public boolean request(Json request, Draft draft) {
        draft.requestModel(request.text("model"));
        draft.stream(request.get("stream"));
        return request.get("messages") instanceof Json.Arr;
    }

    @Override
    public Shape response() {
        return ANSWER.with("choices", Shape.each("choices", CHOICE));
    }

    @Override
    public void responseElement(Json choice, long index, long end, Draft draft) {
        choice(choice, "message", index, end, draft);
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        answer(response, draft);
        draft.complete();
    }

    @Override
    public Shape event() {
        return ANSWER.with("choices", Shape.list(CHOICE));
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        long position = 0;
        for (Json choice : data.list("choices")) {
            choice(choice, "delta", position++, end, draft);
        }
        answer(data, draft);
    }

    @Override
    public void done(Draft draft) {
        draft.complete();
    }

    private static void answer(Json answer, Draft draft) {
        Json error = answer.get("error");
        if (error != null && !(error instanceof Json.Null)) {
            error(error, draft);
        } else if ("error".equals(answer.text("object"))) {
            error(answer, draft);
        } else {
            draft.response(answer.text("id"), answer.text("model"));
        }
        Json usage = answer.get("usage");
        if (usage != null) {
            draft.counts().input(usage.count("prompt_tokens")).output(usage.count("completion_tokens"));
            Json prompt = usage.get("prompt_tokens_details");
            Json completion = usage.get("completion_tokens_details");
            draft.counts()
                    .cacheRead(prompt == null ? null : prompt.count("cached_tokens"))
                    .reasoning(completion == null ? null : completion.count("reasoning_tokens"));
        }
    }

    static void error(Json error, Draft draft) {
        if (error instanceof Json.Text(String message, boolean _)) {
            draft.error(null, message);
            return;
        }
        String type = error.text("type");
        String code = error.text("code");
        Long number = error.count("code");
        draft.error(
                type != null ? type : code != null ? code : number == null ? null : number.toString(),
                error.text("message"));
    }

    private static void choice(Json choice, String member, long position, long end, Draft draft) {
        Long given = choice.count("index");
        long number = given == null ? position : given;
        Json said = choice.get(member);
        if (said != null) {
            long place = 0;
            for (Json call : said.list("tool_calls")) {
                Long index = call.count("index");
                call(number, index == null ? place : index, call, end, draft);
                place++;
            }
            function(number + "/function_call", 0, "function_call", null, said.get("function_call"), end, draft);
        }
        String reason = choice.text("finish_reason");
        if (reason != null) {
            if (number == 0) {
                draft.stopReason(reason);
            }
            draft.endToolUses(number + "/");
        }
    }

    private static void call(long choice, long index, Json call, long end, Draft draft) {
        Json custom = call.get("custom");
        String type = call.text("type");
        String known = type != null ? type : custom == null ? "function" : "custom";
        function(
                choice + "/" + index,
                index,
                known,
                call.text("id"),
                custom == null ? call.get("function") : custom,
                end,
                draft);
    }

    private static void function(
            String key, long index, String type, @Nullable String id, @Nullable Json function, long end, Draft draft) {
        if (function == null || function instanceof Json.Null) {
            return;
        }
        DraftedUse use = draft.toolUse(key, index, type);
        if (use != null) {
            Json arguments = function.get("arguments");
            use.named(id, function.text("name"))
                    .piece(arguments == null ? function.get("input") : arguments)
                    .until(end);
        }
    }
}
