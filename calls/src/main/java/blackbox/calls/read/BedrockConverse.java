package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import org.jspecify.annotations.Nullable;

/// `Converse` and `ConverseStream` of Amazon Bedrock.
final class BedrockConverse implements Dialect {
    private static final Shape TOOL_USE = Shape.object()
            .texts(WORD_CHARS_MAX, "toolUseId", "name", "type")
            .with("input", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX));
    private static final Shape USAGE =
            Shape.object().scalars("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens");

    @Override
    public Shape request() {
        Shape block = Shape.object().with("toolResult", Shape.object().texts(WORD_CHARS_MAX, "toolUseId"));
        return Shape.object()
                .with("messages", Shape.each("messages", Shape.object().with("content", Shape.list(block))));
    }

    @Override
    public void requestElement(Json message, Draft draft) {
        draft.message();
        for (Json block : message.list("content")) {
            Json result = block.get("toolResult");
            if (result != null) {
                draft.toolResult(result.text("toolUseId"));
            }
        }
    }

    @Override
    public boolean request(Json request, Draft draft) {
        return true; // a stored prompt needs no messages
    }

    @Override
    public Shape response() {
        Shape content = Shape.each("content", Shape.object().with("toolUse", TOOL_USE));
        return Shape.object()
                .texts(WORD_CHARS_MAX, "stopReason")
                .texts(MESSAGE_CHARS_MAX, "message", "Message")
                .with("output", Shape.object().with("message", Shape.object().with("content", content)))
                .with("usage", USAGE);
    }

    @Override
    public void responseElement(Json block, long index, long end, Draft draft) {
        DraftedUse use = begin(block.get("toolUse"), index, draft);
        if (use != null) {
            use.until(end).complete();
        }
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        draft.stopReason(response.text("stopReason"));
        usage(response.get("usage"), draft);
        String message = response.text("message");
        draft.error(null, message == null ? response.text("Message") : message);
        draft.complete();
    }

    @Override
    public Shape event() {
        return Shape.object()
                .scalars("contentBlockIndex")
                .texts(WORD_CHARS_MAX, "stopReason")
                .with("start", Shape.object().with("toolUse", TOOL_USE))
                .with(
                        "delta",
                        Shape.object().with("toolUse", Shape.object().texts(DraftedUse.ARGUMENTS_CHARS_MAX, "input")))
                .with("usage", USAGE);
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        Long index = data.count("contentBlockIndex");
        DraftedUse known = index == null ? null : draft.knownToolUse(index.toString());
        switch (type) {
            case "contentBlockStart" -> {
                Json start = data.get("start");
                DraftedUse use = start == null || index == null ? null : begin(start.get("toolUse"), index, draft);
                if (use != null) {
                    use.until(end);
                }
            }
            case "contentBlockDelta" -> {
                Json delta = data.get("delta");
                Json piece = delta == null ? null : delta.get("toolUse");
                if (known != null && piece != null) {
                    known.piece(piece.get("input")).until(end);
                }
            }
            case "contentBlockStop" -> {
                if (known != null) {
                    known.until(end).complete();
                }
            }
            case "messageStop" -> {
                draft.stopReason(data.text("stopReason"));
                draft.complete();
            }
            case "metadata" -> usage(data.get("usage"), draft);
            default -> {}
        }
    }

    private static void usage(@Nullable Json usage, Draft draft) {
        if (usage != null) {
            draft.counts()
                    .input(usage.count("inputTokens"))
                    .output(usage.count("outputTokens"))
                    .cacheRead(usage.count("cacheReadInputTokens"))
                    .cacheCreation(usage.count("cacheWriteInputTokens"))
                    .cacheIsBeside();
        }
    }

    private static @Nullable DraftedUse begin(@Nullable Json toolUse, long index, Draft draft) {
        if (toolUse == null) {
            return null;
        }
        String type = toolUse.text("type");
        DraftedUse use = draft.toolUse(Long.toString(index), index, type == null ? "toolUse" : type);
        return use == null
                ? null
                : use.named(toolUse.text("toolUseId"), toolUse.text("name")).piece(toolUse.get("input"));
    }
}
