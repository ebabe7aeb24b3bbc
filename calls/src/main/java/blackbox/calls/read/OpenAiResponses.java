package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import org.jspecify.annotations.Nullable;

/// OpenAI's Responses.
final class OpenAiResponses implements Dialect {
    private static final Shape ARGUMENTS = Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX);
    private static final Shape ITEM = Shape.object()
            .texts(WORD_CHARS_MAX, "type", "id", "call_id", "name")
            .with("arguments", ARGUMENTS)
            .with("input", ARGUMENTS)
            .with("action", ARGUMENTS)
            .with("operation", ARGUMENTS);
    private static final Shape RESPONSE = Shape.object()
            .texts(WORD_CHARS_MAX, "id", "model", "status")
            .with("incomplete_details", Shape.object().texts(WORD_CHARS_MAX, "reason"))
            .with("error", OpenAiChat.ERROR)
            .with(
                    "usage",
                    Shape.object()
                            .scalars("input_tokens", "output_tokens")
                            .with("input_tokens_details", Shape.object().scalars("cached_tokens"))
                            .with("output_tokens_details", Shape.object().scalars("reasoning_tokens")));

    @Override
    public Shape request() {
        Shape item = Shape.object().texts(WORD_CHARS_MAX, "type", "call_id");
        return Shape.object()
                .texts(WORD_CHARS_MAX, "model")
                .scalars("stream")
                .with("prompt", Shape.object().texts(WORD_CHARS_MAX, "id"))
                .with("input", Shape.each("input", item).or(Shape.text(1)));
    }

    @Override
    public void requestElement(Json item, Draft draft) {
        draft.message();
        String type = item.text("type");
        if (type != null && type.endsWith("_output")) {
            draft.toolResult(item.text("call_id"));
        }
    }

    @Override
    public boolean request(Json request, Draft draft) {
        draft.requestModel(request.text("model"));
        draft.stream(request.get("stream"));
        if (request.get("input") instanceof Json.Text) {
            draft.message();
        }
        return request.text("model") != null || request.get("prompt") instanceof Json.Obj;
    }

    @Override
    public Shape response() {
        return RESPONSE.with("output", Shape.each("output", ITEM));
    }

    @Override
    public void responseElement(Json item, long index, long end, Draft draft) {
        item(item, index, end, draft);
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        answer(response, draft);
        ended(response, draft);
    }

    @Override
    public Shape event() {
        return Shape.object()
                .texts(WORD_CHARS_MAX, "type", "code")
                .texts(MESSAGE_CHARS_MAX, "message")
                .texts(DraftedUse.ARGUMENTS_CHARS_MAX, "delta", "arguments", "input")
                .scalars("output_index")
                .with("item", ITEM)
                .with("error", OpenAiChat.ERROR)
                .with("response", RESPONSE.with("output", Shape.list(ITEM)));
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        String said = data.text("type");
        Json response = data.get("response");
        switch (said == null ? type : said) {
            case "response.created", "response.in_progress", "response.queued" -> {
                if (response != null) {
                    draft.response(response.text("id"), response.text("model"));
                }
            }
            case "response.output_item.added" -> {
                DraftedUse use = begin(data.get("item"), data.count("output_index"), draft);
                if (use != null) {
                    use.until(end);
                }
            }
            case "response.output_item.done" -> item(data.get("item"), data.count("output_index"), end, draft);
            case "response.function_call_arguments.delta",
                    "response.custom_tool_call_input.delta",
                    "response.mcp_call_arguments.delta" -> {
                DraftedUse use = known(data, draft);
                if (use != null) {
                    use.piece(data.get("delta")).until(end);
                }
            }
            case "response.function_call_arguments.done",
                    "response.custom_tool_call_input.done",
                    "response.mcp_call_arguments.done" -> {
                DraftedUse use = known(data, draft);
                if (use != null) {
                    Json arguments = data.get("arguments");
                    use.all(arguments == null ? data.get("input") : arguments).until(end);
                }
            }
            case "response.completed", "response.incomplete", "response.failed" -> {
                if (response != null) {
                    finished(response, end, draft);
                }
            }
            case "error" -> OpenAiChat.error(data.get("error") instanceof Json.Obj error ? error : coded(data), draft);
            default -> {}
        }
    }

    /// An error event, whose `type` only says that it is one.
    private static Json coded(Json event) {
        return event instanceof Json.Obj(var members) ? Json.without(members, "type") : event;
    }

    private static void finished(Json response, long end, Draft draft) {
        long index = 0;
        for (Json item : response.list("output")) {
            if (draft.knownToolUse(Long.toString(index)) == null) {
                item(item, index, end, draft);
            }
            index++;
        }
        answer(response, draft);
        ended(response, draft);
    }

    private static void ended(Json response, Draft draft) {
        String status = response.text("status");
        if (!"in_progress".equals(status) && !"queued".equals(status)) {
            draft.complete();
        }
    }

    private static void answer(Json response, Draft draft) {
        draft.response(response.text("id"), response.text("model"));
        Json why = response.get("incomplete_details");
        String reason = why == null ? null : why.text("reason");
        draft.stopReason(reason == null ? response.text("status") : reason);
        Json error = response.get("error");
        if (error instanceof Json.Obj || error instanceof Json.Text) {
            OpenAiChat.error(error, draft);
        }
        Json usage = response.get("usage");
        if (usage != null) {
            Json input = usage.get("input_tokens_details");
            Json output = usage.get("output_tokens_details");
            draft.counts()
                    .input(usage.count("input_tokens"))
                    .output(usage.count("output_tokens"))
                    .cacheRead(input == null ? null : input.count("cached_tokens"))
                    .reasoning(output == null ? null : output.count("reasoning_tokens"));
        }
    }

    /// An item that is whole.
    private static void item(@Nullable Json item, @Nullable Long index, long end, Draft draft) {
        DraftedUse use = begin(item, index, draft);
        if (use != null && item != null) {
            Json arguments = item.get("arguments");
            for (String other : new String[] {"input", "action", "operation"}) {
                arguments = arguments == null ? item.get(other) : arguments;
            }
            use.all(arguments).until(end).complete();
        }
    }

    /// An item that uses a tool; null if it does not.
    private static @Nullable DraftedUse begin(@Nullable Json item, @Nullable Long index, Draft draft) {
        String type = item == null ? null : item.text("type");
        if (item == null || index == null || type == null || !type.endsWith("_call")) {
            return null;
        }
        DraftedUse use = draft.toolUse(index.toString(), index, type);
        String call = item.text("call_id");
        return use == null ? null : use.named(call == null ? item.text("id") : call, item.text("name"));
    }

    private static @Nullable DraftedUse known(Json data, Draft draft) {
        Long index = data.count("output_index");
        return index == null ? null : draft.knownToolUse(index.toString());
    }
}
