package blackbox.calls.rpc;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads a body of JSON-RPC 2.0: a message or a batch of them.
///
/// Refused is what servers read in different ways: octets that are not UTF-8, a byte order mark, members that occur
/// twice at any depth, or twice but for their case (Go's `encoding/json` takes either), texts with half a surrogate
/// pair, anything after the value, and messages that are both a request and an answer.
public final class RpcReader {
    /// How deep a message may be nested.
    public static final int DEPTH_MAX = 64;

    /// How many messages a batch may have.
    public static final int BATCH_MAX = 64;

    private static final int NAME_CHARS_MAX = 1_000;
    private static final int NUMBER_CHARS_MAX = 300;
    private static final int ID_CHARS_MAX = 256;
    private static final int WORD_CHARS_MAX = 256;

    private static final Set<String> MEMBERS = Set.of("jsonrpc", "id", "method", "params", "result", "error");
    private static final Set<String> PARAMETERS = Set.of("name");

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH_MAX)
                    .maxNameLength(NAME_CHARS_MAX)
                    .maxNumberLength(NUMBER_CHARS_MAX)
                    .build())
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private final JsonParser parser;

    private RpcReader(JsonParser parser) {
        this.parser = parser;
    }

    /// The messages of a body, at least one.
    ///
    /// @throws RpcException when it is no such body
    public static List<RpcMessage> read(byte[] body) throws RpcException {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new RpcException("it is not UTF-8", e);
        }
        try (JsonParser parser = JSON.createParser(text)) {
            return new RpcReader(parser).body();
        } catch (JsonProcessingException e) {
            throw new RpcException("it is not JSON that can be read in one way only: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new RpcException("it cannot be read: " + e.getMessage(), e);
        }
    }

    private List<RpcMessage> body() throws IOException, RpcException {
        var messages = new ArrayList<RpcMessage>();
        JsonToken first = parser.nextToken();
        if (first == JsonToken.START_OBJECT) {
            messages.add(message());
        } else if (first == JsonToken.START_ARRAY) {
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() != JsonToken.START_OBJECT) {
                    throw new RpcException("a batch has something else than messages");
                }
                if (messages.size() == BATCH_MAX) {
                    throw new RpcException("a batch has more than " + BATCH_MAX + " messages");
                }
                messages.add(message());
            }
        }
        if (messages.isEmpty()) {
            throw new RpcException("it is neither a message nor a batch of them");
        }
        if (parser.nextToken() != null) {
            throw new RpcException("something follows after it");
        }
        return List.copyOf(messages);
    }

    private RpcMessage message() throws IOException, RpcException {
        boolean version = false;
        boolean answer = false;
        String id = null;
        String method = null;
        String name = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String member = member(MEMBERS);
            JsonToken value = parser.nextToken();
            switch (member) {
                case "jsonrpc" -> version = word(value, "version").equals("2.0");
                case "id" -> id = id(value);
                case "method" -> method = word(value, "method");
                case "params" -> name = value == JsonToken.START_OBJECT ? name() : skip();
                default -> {
                    answer |= member.equals("result") || member.equals("error");
                    var unused = skip();
                }
            }
        }
        if (!version) {
            throw new RpcException("a message is not of JSON-RPC 2.0");
        }
        if (answer == (method != null)) {
            throw new RpcException("a message is " + (answer ? "both" : "neither") + " a request and an answer");
        }
        return new RpcMessage(id, method, name);
    }

    /// The name of the member that is next; one that differs from a known one in its case only is refused.
    private String member(Set<String> known) throws IOException, RpcException {
        String member = whole(parser.currentName());
        if (!known.contains(member) && known.stream().anyMatch(member::equalsIgnoreCase)) {
            throw new RpcException("a member is called " + member);
        }
        return member;
    }

    private @Nullable String name() throws IOException, RpcException {
        String name = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String member = member(PARAMETERS);
            JsonToken value = parser.nextToken();
            if (member.equals("name") && value == JsonToken.VALUE_STRING) {
                name = word(value, "name");
            } else {
                var unused = skip();
            }
        }
        return name;
    }

    private @Nullable String skip() throws IOException, RpcException {
        int depth = 0;
        do {
            JsonToken token = depth == 0 ? parser.currentToken() : parser.nextToken();
            if (token == null) {
                throw new RpcException("it breaks off");
            }
            depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            if (token == JsonToken.VALUE_STRING || token == JsonToken.FIELD_NAME) {
                var unused = whole(parser.getText());
            }
        } while (depth > 0);
        return null;
    }

    private @Nullable String id(JsonToken value) throws IOException, RpcException {
        String id = switch (value) {
            case VALUE_STRING ->
                '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(whole(parser.getText()))) + '"';
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getText();
            case VALUE_NULL -> null;
            default -> throw new RpcException("the id of a message is neither a text nor a number");
        };
        if (id != null && id.length() > ID_CHARS_MAX) {
            throw new RpcException("the id of a message has more than " + ID_CHARS_MAX + " characters");
        }
        return id;
    }

    private String word(JsonToken value, String what) throws IOException, RpcException {
        if (value != JsonToken.VALUE_STRING) {
            throw new RpcException("the " + what + " of a message is no text");
        }
        String word = whole(parser.getText());
        if (word.length() > WORD_CHARS_MAX) {
            throw new RpcException("the " + what + " of a message has more than " + WORD_CHARS_MAX + " characters");
        }
        return word;
    }

    private static String whole(String text) throws RpcException {
        if (text.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            throw new RpcException("a text has half a surrogate pair");
        }
        return text;
    }
}
