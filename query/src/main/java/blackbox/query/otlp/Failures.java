package blackbox.query.otlp;

import blackbox.query.otlp.RunTrace.Content;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/// How a call failed, as `error.type`: what the provider or server called it, `tool_error`, a status of HTTP from 400,
/// `no_response`, `incomplete` (the answer broke off), or `_OTHER`. A message is somebody else's text, which may quote
/// what was asked, and so it is content.
final class Failures {

    private static final String NO_RESPONSE = "no_response";
    private static final String INCOMPLETE = "incomplete";
    private static final int ERRORS_FROM = 400;
    private static final ObjectMapper JSON = new ObjectMapper();

    private Failures() {}

    /// Of an `llm.call`.
    static Span.@Nullable Failure ofModel(JsonNode detail, Content content) {
        Span.Failure failed = said(detail, content);
        if (failed == null
                && detail.path("complete").isBoolean()
                && !detail.path("complete").booleanValue()) {
            return new Span.Failure(INCOMPLETE, null);
        }
        return failed;
    }

    /// Of an `mcp.call`.
    static Span.@Nullable Failure ofMcp(JsonNode detail, Content content) {
        Span.Failure failed = said(detail, content);
        if (failed != null) {
            return failed;
        }
        if (detail.path("toolError").asBoolean()) {
            return new Span.Failure("tool_error", null);
        }
        JsonNode answered = detail.path("answered");
        boolean unanswered = answered.isBoolean() && !answered.booleanValue() && id(detail) != null;
        return unanswered && !detail.has("notRead") ? new Span.Failure(INCOMPLETE, null) : null;
    }

    private static Span.@Nullable Failure said(JsonNode detail, Content content) {
        JsonNode error = detail.path("error");
        Long status = CallSpans.count(detail, "status");
        String byStatus = status == null || status != 0 && status < ERRORS_FROM
                ? null
                : status == 0 ? NO_RESPONSE : Long.toString(status);
        if (error.isObject()) {
            String type = error.path("type").textValue();
            String message = content == Content.INCLUDED ? error.path("message").textValue() : null;
            return new Span.Failure(type != null ? type : byStatus != null ? byStatus : "_OTHER", message);
        }
        return byStatus == null ? null : new Span.Failure(byStatus, null);
    }

    /// The id of a request of JSON-RPC as text; null for a notification.
    static @Nullable String id(JsonNode detail) {
        String json = detail.path("id").textValue();
        if (json == null || json.equals("null")) {
            return null;
        }
        try {
            String text = JSON.readTree(json).textValue();
            return text == null ? json : text;
        } catch (JsonProcessingException e) {
            return json; // was cut
        }
    }
}
