package blackbox.calls.read;

import blackbox.calls.Api;
import blackbox.calls.Call;
import blackbox.calls.Headers;
import blackbox.calls.json.Json;
import blackbox.calls.json.Shape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the call of a model.
final class ModelReading implements Reading {
    private final Dialect dialect;
    private final Draft draft;
    private final Notes notes = new Notes();
    private boolean requestSeen;
    private boolean requestRepeated;
    private boolean isOther;
    private boolean responseSeen;
    private @Nullable Headers head;
    private final Shape event;

    ModelReading(Api api, @Nullable String model, @Nullable Boolean stream) {
        dialect = dialect(api);
        event = dialect.event();
        draft = new Draft(api, notes);
        draft.requestModel(model);
        draft.stream(stream);
    }

    private static Dialect dialect(Api api) {
        return switch (api) {
            case ANTHROPIC_MESSAGES -> new Anthropic();
            case OPENAI_CHAT -> new OpenAiChat();
            case OPENAI_RESPONSES -> new OpenAiResponses();
            case GOOGLE_GENERATE_CONTENT -> new Google();
            case BEDROCK_INVOKE -> new BedrockInvoke();
            case BEDROCK_CONVERSE -> new BedrockConverse();
            case OLLAMA_CHAT, OLLAMA_GENERATE -> new Ollama();
        };
    }

    @Override
    public Notes notes() {
        return notes;
    }

    @Override
    public void head(int status, Headers headers) {
        head = headers;
    }

    @Override
    public @Nullable String requestModel() {
        return requestSeen && !requestRepeated && !isOther ? draft.requestModel() : null;
    }

    @Override
    public List<Call> calls(int status, long octets) {
        if (isOther) {
            return List.of();
        }
        if (!requestSeen) {
            notes.add("request: no JSON value was read");
        }
        if (head != null) {
            bedrock(head);
        }
        return List.of(draft.build(status, octets));
    }

    /// What Bedrock says in header fields.
    private void bedrock(Headers headers) {
        if (draft.counts().unknown()) {
            draft.counts()
                    .input(count(headers.first("x-amzn-bedrock-input-token-count")))
                    .output(count(headers.first("x-amzn-bedrock-output-token-count")));
        }
        String type = headers.first("x-amzn-errortype");
        if (type != null) {
            int end = type.indexOf(':');
            String word = end < 0 ? type : type.substring(0, end);
            draft.errorType(word.substring(0, Math.min(word.length(), Dialect.WORD_CHARS_MAX)));
        }
    }

    private static @Nullable Long count(@Nullable String digits) {
        return digits == null ? null : Json.wholeNumber(digits);
    }

    @Override
    public BodyReader.Sink request() {
        return new BodyReader.Sink() {
            @Override
            public Shape value() {
                return dialect.request();
            }

            @Override
            public void element(Json element, long index, long end) {
                if (!requestSeen) {
                    dialect.requestElement(element, draft);
                }
            }

            @Override
            public void value(Json value, long end) {
                if (requestSeen) {
                    requestRepeated = true;
                    notes.add("request: more than one JSON value");
                } else {
                    requestSeen = true;
                    isOther = !dialect.request(value, draft);
                }
            }

            @Override
            public Shape event() {
                return Shape.SCALAR;
            }

            @Override
            public void event(String type, Json data, long end) {}

            @Override
            public void done() {}

            @Override
            public void failed(@Nullable String type, @Nullable String message) {}
        };
    }

    @Override
    public BodyReader.Sink response() {
        return new BodyReader.Sink() {
            @Override
            public Shape value() {
                return dialect.response();
            }

            @Override
            public void element(Json element, long index, long end) {
                if (!responseSeen) {
                    dialect.responseElement(element, index, end, draft);
                }
            }

            @Override
            public void value(Json value, long end) {
                if (responseSeen && !dialect.isLines()) {
                    notes.add("response: more than one JSON value");
                } else {
                    responseSeen = true;
                    dialect.response(value, end, draft);
                }
            }

            @Override
            public Shape event() {
                return event;
            }

            @Override
            public void event(String type, Json data, long end) {
                dialect.event(type, data, end, draft);
            }

            @Override
            public void done() {
                dialect.done(draft);
            }

            @Override
            public void failed(@Nullable String type, @Nullable String message) {
                draft.error(type, message);
            }
        };
    }
}
