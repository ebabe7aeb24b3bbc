package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import java.util.List;

/// `generateContent` and `streamGenerateContent` of Google's Gemini API and of Vertex AI. Google's Code Assist has the
/// same in an envelope.
final class Google implements Dialect {
    private static final Shape PART = Shape.object()
            .with(
                    "functionCall",
                    Shape.object()
                            .texts(WORD_CHARS_MAX, "id", "name")
                            .with("args", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX)));
    private static final Shape PLAIN = Shape.object()
            .texts(WORD_CHARS_MAX, "responseId", "modelVersion")
            .with(
                    "candidates",
                    Shape.list(Shape.object()
                            .scalars("index")
                            .texts(WORD_CHARS_MAX, "finishReason")
                            .with("content", Shape.object().with("parts", Shape.list(PART)))))
            .with("promptFeedback", Shape.object().texts(WORD_CHARS_MAX, "blockReason"))
            .with(
                    "usageMetadata",
                    Shape.object()
                            .scalars(
                                    "promptTokenCount",
                                    "toolUsePromptTokenCount",
                                    "candidatesTokenCount",
                                    "thoughtsTokenCount",
                                    "cachedContentTokenCount"))
            .with(
                    "error",
                    Shape.object()
                            .texts(WORD_CHARS_MAX, "status")
                            .scalars("code")
                            .texts(MESSAGE_CHARS_MAX, "message"));
    private static final Shape ANSWER = PLAIN.with("response", PLAIN);

    @Override
    public Shape request() {
        Shape answered = Shape.object().with("functionResponse", Shape.object().texts(WORD_CHARS_MAX, "id", "name"));
        Shape contents = Shape.object()
                .with("contents", Shape.each("contents", Shape.object().with("parts", Shape.list(answered))));
        return contents.texts(WORD_CHARS_MAX, "model").with("request", contents);
    }

    @Override
    public void requestElement(Json content, Draft draft) {
        draft.message();
        for (Json part : content.list("parts")) {
            Json answer = part.get("functionResponse");
            if (answer != null) {
                String id = answer.text("id");
                draft.toolResult(id == null ? answer.text("name") : id);
            }
        }
    }

    @Override
    public boolean request(Json request, Draft draft) {
        draft.requestModel(request.text("model"));
        Json enveloped = request.get("request");
        return (enveloped == null ? request : enveloped).get("contents") != null;
    }

    @Override
    public Shape response() {
        return ANSWER.or(Shape.each("answers", ANSWER));
    }

    @Override
    public void responseElement(Json answer, long index, long end, Draft draft) {
        answer(answer, end, draft);
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        if (!(response instanceof Json.Arr)) {
            answer(response, end, draft);
        }
        draft.complete();
    }

    @Override
    public Shape event() {
        return ANSWER;
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        answer(data, end, draft);
        if (draft.stopped()) {
            draft.complete(); // nothing else marks the end
        }
    }

    private static void answer(Json given, long end, Draft draft) {
        Json enveloped = given.get("response");
        Json answer = enveloped == null ? given : enveloped;
        draft.response(answer.text("responseId"), answer.text("modelVersion"));
        for (Json candidate : answer.list("candidates")) {
            Json content = candidate.get("content");
            for (Json part : content == null ? List.<Json>of() : content.list("parts")) {
                functionCall(part, end, draft);
            }
            Long index = candidate.count("index");
            if (index == null || index == 0) {
                draft.stopReason(candidate.text("finishReason"));
            }
        }
        Json feedback = answer.get("promptFeedback");
        draft.stopReason(feedback == null ? null : feedback.text("blockReason"));
        Json usage = answer.get("usageMetadata");
        if (usage != null) {
            draft.counts()
                    .input(usage.count("promptTokenCount"))
                    .inputBeside(usage.count("toolUsePromptTokenCount"))
                    .output(usage.count("candidatesTokenCount"))
                    .reasoning(usage.count("thoughtsTokenCount"))
                    .cacheRead(usage.count("cachedContentTokenCount"))
                    .reasoningIsBeside();
        }
        Json error = answer.get("error");
        if (error != null) {
            Long code = error.count("code");
            String status = error.text("status");
            draft.error(status == null && code != null ? code.toString() : status, error.text("message"));
        }
    }

    /// A call comes whole, in one part.
    private static void functionCall(Json part, long end, Draft draft) {
        Json call = part.get("functionCall");
        if (call != null) {
            long index = draft.toolUseCount();
            DraftedUse use = draft.toolUse(Long.toString(index), index, "functionCall");
            if (use != null) {
                use.named(call.text("id"), call.text("name"))
                        .piece(call.get("args"))
                        .until(end)
                        .complete();
            }
        }
    }
}
