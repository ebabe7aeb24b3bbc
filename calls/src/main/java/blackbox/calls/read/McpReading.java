package blackbox.calls.read;

import blackbox.calls.Arguments;
import blackbox.calls.Call;
import blackbox.calls.CallError;
import blackbox.calls.Headers;
import blackbox.calls.McpCall;
import blackbox.calls.json.CanonicalText;
import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads the calls of MCP over its streamable HTTP transport (revisions 2025-03-26 to 2026-07-28). What a server asks
/// of its client is not among them.
final class McpReading implements Reading {
    private static final int CALLS_MAX = 256;
    private static final Shape REQUEST = Shape.object()
            .texts(Dialect.WORD_CHARS_MAX, "jsonrpc", "id", "method")
            .with(
                    "params",
                    Shape.object()
                            .texts(Dialect.WORD_CHARS_MAX, "name")
                            .texts(Dialect.MESSAGE_CHARS_MAX, "uri")
                            .with("arguments", Shape.whole(DraftedUse.ARGUMENTS_CHARS_MAX)));
    private static final Shape ANSWER = Shape.object()
            .texts(Dialect.WORD_CHARS_MAX, "id", "method")
            .with("result", Shape.object().scalars("isError"))
            .with("error", Shape.object().scalars("code").texts(Dialect.MESSAGE_CHARS_MAX, "message"));
    private static final Shape EVENT = ANSWER.or(Shape.list(ANSWER));
    private static final List<String> METHODS = List.of(
            "initialize",
            "ping",
            "server/discover",
            "completion/complete",
            "logging/setLevel",
            "tools/",
            "resources/",
            "prompts/",
            "tasks/",
            "subscriptions/",
            "notifications/");

    private record Asked(
            @Nullable String id,
            String method,
            @Nullable String name,
            @Nullable Arguments arguments) {}

    private final Notes notes = new Notes();
    private final boolean saysMcp;
    private final List<Asked> asked = new ArrayList<>();
    private final Map<String, McpCall.Answer> answers = new LinkedHashMap<>();
    private final @Nullable String saidMethod;
    private final @Nullable String saidName;
    private @Nullable String session;
    private int argumentsLeft = DraftedUse.ALL_ARGUMENTS_CHARS_MAX;

    McpReading(Headers headers) {
        session = word(headers.first("mcp-session-id"));
        saidMethod = word(headers.first("mcp-method"));
        saidName = word(headers.first("mcp-name"));
        saysMcp = session != null || headers.first("mcp-protocol-version") != null || saidMethod != null;
    }

    @Override
    public Notes notes() {
        return notes;
    }

    @Override
    public void head(int status, Headers headers) {
        session = session == null ? word(headers.first("mcp-session-id")) : session;
    }

    @Override
    public List<Call> calls(int status, long octets) {
        List<Call> calls = new ArrayList<>();
        for (Asked one : asked) {
            calls.add(new McpCall(
                    session,
                    one.id,
                    one.method,
                    one.name,
                    one.arguments,
                    status,
                    one.id == null ? null : answers.get(one.id),
                    notes.list()));
        }
        if (calls.isEmpty() && saysMcp && !notes.list().isEmpty()) {
            calls.add(new McpCall(session, null, saidMethod, saidName, null, status, null, notes.list()));
        }
        return calls;
    }

    @Override
    public BodyReader.Sink request() {
        return new Side() {
            @Override
            public Shape value() {
                return REQUEST.or(Shape.each("messages", REQUEST));
            }

            @Override
            void message(Json message, long end) {
                ask(message);
            }
        };
    }

    @Override
    public BodyReader.Sink response() {
        return new Side() {
            @Override
            public Shape value() {
                return ANSWER.or(Shape.each("messages", ANSWER));
            }

            @Override
            void message(Json message, long end) {
                answer(message, end);
            }
        };
    }

    private void ask(Json message) {
        String method = message.text("method");
        if (method == null || !"2.0".equals(message.text("jsonrpc")) || !saysMcp && !isOfMcp(method)) {
            return;
        }
        if (asked.size() == CALLS_MAX) {
            notes.add("request: more than " + CALLS_MAX + " messages in a batch");
            return;
        }
        Json params = message.get("params");
        String name = params == null ? null : params.text("name");
        asked.add(new Asked(
                id(message),
                method,
                name == null && params != null ? params.text("uri") : name,
                params == null ? null : arguments(params.get("arguments"))));
    }

    private @Nullable Arguments arguments(@Nullable Json given) {
        if (!(given instanceof Json.Whole(Json value, boolean cut))) {
            return null;
        }
        String text = CanonicalText.of(value);
        int room = Math.min(argumentsLeft, DraftedUse.ARGUMENTS_CHARS_MAX);
        String kept = text.substring(0, Math.min(room, text.length()));
        argumentsLeft -= kept.length();
        return new Arguments(kept, cut || kept.length() < text.length());
    }

    private void answer(Json message, long end) {
        String id = id(message);
        Json result = message.get("result");
        Json error = message.get("error");
        if (id == null || message.text("method") != null || result == null && error == null) {
            return;
        }
        if (answers.size() == CALLS_MAX) {
            notes.add("response: more than " + CALLS_MAX + " answers");
            return;
        }
        Boolean toolError = result != null && result.get("isError") instanceof Json.Bool(boolean yes) ? yes : null;
        String code = error != null && error.get("code") instanceof Json.Num(String digits) ? digits : null;
        answers.putIfAbsent(
                id,
                new McpCall.Answer(toolError, error == null ? null : new CallError(code, error.text("message")), end));
    }

    /// An id as it is written in JSON; null if there is none.
    private static @Nullable String id(Json message) {
        Json id = message.get("id");
        return id instanceof Json.Text || id instanceof Json.Num ? CanonicalText.of(id) : null;
    }

    private static boolean isOfMcp(String method) {
        return METHODS.stream()
                .anyMatch(known -> known.endsWith("/") ? method.startsWith(known) : method.equals(known));
    }

    private static @Nullable String word(@Nullable String text) {
        return text == null ? null : text.substring(0, Math.min(text.length(), Dialect.WORD_CHARS_MAX));
    }

    /// One of the bodies: a message, a batch of them, or a stream of either.
    private abstract static class Side implements BodyReader.Sink {
        abstract void message(Json message, long end);

        @Override
        public void element(Json element, long index, long end) {
            message(element, end);
        }

        @Override
        public void value(Json value, long end) {
            if (!(value instanceof Json.Arr)) {
                message(value, end);
            }
        }

        @Override
        public Shape event() {
            return EVENT;
        }

        @Override
        public void event(String type, Json data, long end) {
            if (data instanceof Json.Arr(var messages)) {
                messages.forEach(message -> message(message, end));
            } else {
                message(data, end);
            }
        }

        @Override
        public void done() {}

        @Override
        public void failed(@Nullable String type, @Nullable String message) {}
    }
}
