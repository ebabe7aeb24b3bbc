package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import org.jspecify.annotations.Nullable;

/// The Messages API of Anthropic, which Bedrock has for its models, too.
final class Anthropic implements Dialect {
    private static final Shape USAGE = Shape.object()
            .scalars("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens");
    private static final Shape ERROR =
            Shape.text(MESSAGE_CHARS_MAX).texts(WORD_CHARS_MAX, "type").texts(MESSAGE_CHARS_MAX, "message");
    private static final Shape BLOCK = Shape.object()
            .texts(WORD_CHARS_MAX, "type", "id", "name", "tool_use_id")
            .with("input", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX));
    private static final Shape MESSAGE = Shape.object()
            .texts(WORD_CHARS_MAX, "type", "id", "model", "stop_reason")
            .with("usage", USAGE);

    @Override
    public Shape request() {
        Shape block = Shape.object().texts(WORD_CHARS_MAX, "type", "tool_use_id");
        return Shape.object()
                .texts(WORD_CHARS_MAX, "model")
                .scalars("stream")
                .with("messages", Shape.each("messages", Shape.object().with("content", Shape.list(block))));
    }

    @Override
    public void requestElement(Json message, Draft draft) {
        draft.message();
        for (Json block : message.list("content")) {
            String type = block.text("type");
            if (type != null && type.endsWith("tool_result")) {
                draft.toolResult(block.text("tool_use_id"));
            }
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
        return MESSAGE.with("content", Shape.each("content", BLOCK))
                .with("error", ERROR)
                .texts(MESSAGE_CHARS_MAX, "message");
    }

    @Override
    public void responseElement(Json block, long index, long end, Draft draft) {
        DraftedUse use = begin(block, index, draft);
        if (use != null) {
            use.piece(block.get("input")).until(end).complete();
        }
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        message(response, draft);
        error(response, draft);
        draft.complete();
    }

    @Override
    public Shape event() {
        return Shape.object()
                .texts(WORD_CHARS_MAX, "type")
                .scalars("index")
                .with("message", MESSAGE.or(Shape.text(MESSAGE_CHARS_MAX)))
                .with("content_block", BLOCK)
                .with(
                        "delta",
                        Shape.object()
                                .texts(WORD_CHARS_MAX, "type", "stop_reason")
                                .texts(DraftedUse.ARGUMENTS_CHARS_MAX, "partial_json"))
                .with("usage", USAGE)
                .with("error", ERROR);
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        String said = data.text("type");
        switch (said == null ? type : said) {
            case "message_start" -> {
                Json message = data.get("message");
                if (message != null) {
                    message(message, draft);
                }
            }
            case "content_block_start" -> blockStart(data.get("content_block"), data.count("index"), end, draft);
            case "content_block_delta" -> {
                DraftedUse use = known(data, draft);
                Json delta = data.get("delta");
                Json piece = delta == null ? null : delta.get("partial_json");
                if (use != null && piece != null) {
                    use.piece(piece).until(end);
                }
            }
            case "content_block_stop" -> {
                DraftedUse use = known(data, draft);
                if (use != null) {
                    use.until(end).complete();
                }
            }
            case "message_delta" -> {
                Json delta = data.get("delta");
                draft.stopReason(delta == null ? null : delta.text("stop_reason"));
                usage(data.get("usage"), draft);
            }
            case "message_stop" -> draft.complete();
            case "error" -> error(data, draft);
            default -> {}
        }
    }

    private static void blockStart(@Nullable Json block, @Nullable Long index, long end, Draft draft) {
        DraftedUse use = block == null || index == null ? null : begin(block, index, draft);
        if (use == null || block == null) {
            return;
        }
        Json input = block.get("input");
        boolean stands = input instanceof Json.Whole(Json.Obj(var members), boolean _) && members.isEmpty();
        use.until(end).piece(stands ? null : input); // an empty object stands there until the pieces come
    }

    private static void message(Json message, Draft draft) {
        draft.response(message.text("id"), message.text("model"));
        draft.stopReason(message.text("stop_reason"));
        usage(message.get("usage"), draft);
    }

    private static void usage(@Nullable Json usage, Draft draft) {
        if (usage != null) {
            draft.counts()
                    .input(usage.count("input_tokens"))
                    .output(usage.count("output_tokens"))
                    .cacheRead(usage.count("cache_read_input_tokens"))
                    .cacheCreation(usage.count("cache_creation_input_tokens"))
                    .cacheIsBeside();
        }
    }

    /// Its own errors, and those of Bedrock, which are but a message.
    private static void error(Json answer, Draft draft) {
        Json error = answer.get("error");
        if (error == null || error instanceof Json.Null) {
            draft.error(null, answer.text("message"));
        } else {
            draft.error(
                    error.text("type"),
                    error instanceof Json.Text(String text, boolean _) ? text : error.text("message"));
        }
    }

    /// A block that uses a tool; null if it does not.
    private static @Nullable DraftedUse begin(Json block, long index, Draft draft) {
        String type = block.text("type");
        if (type == null || !type.endsWith("tool_use")) {
            return null;
        }
        DraftedUse use = draft.toolUse(Long.toString(index), index, type);
        return use == null ? null : use.named(block.text("id"), block.text("name"));
    }

    private static @Nullable DraftedUse known(Json data, Draft draft) {
        Long index = data.count("index");
        return index == null ? null : draft.knownToolUse(index.toString());
    }
}
