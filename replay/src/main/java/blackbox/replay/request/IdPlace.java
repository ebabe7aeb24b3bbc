package blackbox.replay.request;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where clients write ids that they draw themselves: fields of a request's head, and places in a body that is JSON.
/// What a server gave them has no place here.
public enum IdPlace {
    /// Of one request, so that it is found in logs, or not done twice.
    REQUEST_ID("request-id", "ids of single requests"),
    /// Of a conversation or of a program's run.
    SESSION_ID("session-id", "ids of sessions"),
    /// Of distributed tracing.
    TRACE_ID("trace-id", "ids of traces"),
    /// Of an installation or a user, where a program makes it up when it starts for the first time.
    USER_ID("user-id", "ids that stand for a user or an installation"),
    /// Between the parts of a body.
    MULTIPART_BOUNDARY("multipart-boundary", "what separates the parts of a body"),
    /// Anywhere else, of what was drawn at one of the places above.
    TIED_ID("tied-id", "such ids elsewhere, once they were sent at such a place");

    private static final Map<String, IdPlace> FIELDS = Map.ofEntries(
            Map.entry("x-request-id", REQUEST_ID),
            Map.entry("request-id", REQUEST_ID),
            Map.entry("x-client-request-id", REQUEST_ID),
            Map.entry("client-request-id", REQUEST_ID),
            Map.entry("x-ms-client-request-id", REQUEST_ID),
            Map.entry("x-correlation-id", REQUEST_ID),
            Map.entry("correlation-id", REQUEST_ID),
            Map.entry("amz-sdk-invocation-id", REQUEST_ID),
            Map.entry("idempotency-key", REQUEST_ID),
            Map.entry("x-idempotency-key", REQUEST_ID),
            Map.entry("x-claude-code-session-id", SESSION_ID),
            Map.entry("x-session-id", SESSION_ID),
            Map.entry("session-id", SESSION_ID),
            Map.entry("session_id", SESSION_ID),
            Map.entry("x-session-affinity", SESSION_ID),
            Map.entry("conversation-id", SESSION_ID),
            Map.entry("conversation_id", SESSION_ID),
            Map.entry("thread-id", SESSION_ID),
            Map.entry("traceparent", TRACE_ID),
            Map.entry("tracestate", TRACE_ID),
            Map.entry("baggage", TRACE_ID),
            Map.entry("b3", TRACE_ID),
            Map.entry("x-b3-traceid", TRACE_ID),
            Map.entry("x-b3-spanid", TRACE_ID),
            Map.entry("x-b3-parentspanid", TRACE_ID),
            Map.entry("x-amzn-trace-id", TRACE_ID),
            Map.entry("x-cloud-trace-context", TRACE_ID),
            Map.entry("sentry-trace", TRACE_ID));

    private static final Map<String, IdPlace> POINTERS = Map.of(
            "/metadata/user_id", USER_ID,
            "/user", USER_ID,
            "/safety_identifier", USER_ID,
            "/prompt_cache_key", SESSION_ID,
            "/session_id", SESSION_ID,
            "/metadata/session_id", SESSION_ID,
            "/params/_meta/traceparent", TRACE_ID,
            "/params/_meta/tracestate", TRACE_ID);

    private final String text;
    private final String meaning;

    IdPlace(String text, String meaning) {
        this.text = text;
        this.meaning = meaning;
    }

    /// Its name in a verdict.
    public String text() {
        return text;
    }

    /// What is there, in words.
    public String meaning() {
        return meaning;
    }

    /// What a field of a head has, or null if it has no such id.
    ///
    /// @param before what is before the id in the field's value
    static @Nullable IdPlace ofField(String name, String before) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.equals("content-type")) {
            String media = before.toLowerCase(Locale.ROOT);
            return media.startsWith("multipart/") && media.matches(".*;[ \t]*boundary=\"?-*")
                    ? MULTIPART_BOUNDARY
                    : null;
        }
        return FIELDS.get(lower);
    }

    /// What a place in a body of JSON has, or null if it has no such id.
    ///
    /// @param pointer of RFC 6901
    static @Nullable IdPlace ofPointer(String pointer) {
        return POINTERS.get(pointer);
    }
}
