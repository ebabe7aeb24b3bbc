package blackbox.calls.read;

import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;

/// `InvokeModel` and `InvokeModelWithResponseStream` of Amazon Bedrock, whose bodies are the model's own. Those of
/// Anthropic's models are read; of others, what Bedrock itself counts.
final class BedrockInvoke implements Dialect {
    private static final String METRICS = "amazon-bedrock-invocationMetrics";

    private final Anthropic anthropic = new Anthropic();

    @Override
    public Shape request() {
        return anthropic.request();
    }

    @Override
    public void requestElement(Json message, Draft draft) {
        anthropic.requestElement(message, draft);
    }

    @Override
    public boolean request(Json request, Draft draft) {
        return true;
    }

    @Override
    public Shape response() {
        return anthropic.response().texts(MESSAGE_CHARS_MAX, "Message");
    }

    @Override
    public void responseElement(Json block, long index, long end, Draft draft) {
        anthropic.responseElement(block, index, end, draft);
    }

    @Override
    public void response(Json response, long end, Draft draft) {
        anthropic.response(response, end, draft);
        draft.error(null, response.text("Message"));
        if (!"message".equals(response.text("type")) && !draft.failed()) {
            unknown(draft);
        }
    }

    @Override
    public Shape event() {
        return anthropic
                .event()
                .with(
                        METRICS,
                        Shape.object()
                                .scalars(
                                        "inputTokenCount",
                                        "outputTokenCount",
                                        "cacheReadInputTokenCount",
                                        "cacheWriteInputTokenCount"));
    }

    @Override
    public void event(String type, Json data, long end, Draft draft) {
        anthropic.event("", data, end, draft);
        if (data.text("type") == null) {
            unknown(draft);
        }
        Json metrics = data.get(METRICS);
        if (metrics != null) {
            draft.complete(); // they are in the last chunk
            if (draft.counts().unknown()) {
                draft.counts()
                        .input(metrics.count("inputTokenCount"))
                        .output(metrics.count("outputTokenCount"))
                        .cacheRead(metrics.count("cacheReadInputTokenCount"))
                        .cacheCreation(metrics.count("cacheWriteInputTokenCount"))
                        .cacheIsBeside();
            }
        }
    }

    private static void unknown(Draft draft) {
        draft.notes().add("response: it is not in the format of Anthropic's models, the only one known here");
    }
}
