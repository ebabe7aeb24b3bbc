package blackbox.replay.request;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Where an octet of a request of HTTP/1.1 is.
///
/// @param text the request line, a field's name, or a JSON pointer (RFC 6901), in words
/// @param ids what ids clients write there, or null
record RequestPlace(String text, @Nullable IdPlace ids) {
    private static final JsonFactory JSON = new JsonFactory();
    private static final RequestPlace LINE = new RequestPlace("in its first line", null);
    private static final RequestPlace BODY = new RequestPlace("in its body", null);

    /// The place of an octet.
    ///
    /// @param request one that is whole, in the strict form of RFC 9112
    static RequestPlace of(byte[] request, int at) {
        int line = 0;
        while (true) {
            int end = endOfLine(request, line);
            if (at < end) {
                return line == 0 ? LINE : field(request, line, at);
            }
            line = end;
            if (isEmptyLine(request, line)) {
                break;
            }
        }
        return body(request, line + 2, at);
    }

    private static int endOfLine(byte[] request, int from) {
        int at = from;
        while (at < request.length && request[at] != '\n') {
            at++;
        }
        return Math.min(request.length, at + 1);
    }

    private static boolean isEmptyLine(byte[] request, int from) {
        return from >= request.length || request[from] == '\r';
    }

    private static RequestPlace field(byte[] request, int from, int at) {
        String before = latin(request, from, at);
        int colon = before.indexOf(':');
        if (colon <= 0) {
            return new RequestPlace("in the name of a field", null);
        }
        String name = before.substring(0, colon);
        return new RequestPlace(
                "in its field " + name.toLowerCase(Locale.ROOT),
                IdPlace.ofField(name, before.substring(colon + 1).strip()));
    }

    private static RequestPlace body(byte[] request, int from, int at) {
        if (at < from || from >= request.length || request[from] != '{' && request[from] != '[') {
            return BODY;
        }
        try (JsonParser parser = JSON.createParser(request, from, request.length - from)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                parser.finishToken();
                if (token.isScalarValue() && from + parser.currentLocation().getByteOffset() > at) {
                    String pointer = parser.getParsingContext().pathAsPointer().toString();
                    boolean inside = from + parser.currentTokenLocation().getByteOffset() <= at;
                    return new RequestPlace(
                            "at " + pointer + " of its body", inside ? IdPlace.ofPointer(pointer) : null);
                }
            }
        } catch (IOException e) {
            return BODY; // it is no JSON, at least not up to there
        }
        return BODY;
    }

    private static String latin(byte[] octets, int from, int to) {
        return new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
