package blackbox.gateway.secret;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A request's body as it leaves: where the surrogate is the whole value at its place, in JSON or in a form,
/// the secret is there, in their quotation. All other octets are the guest's.
public final class FilledBody {
    private static final JsonFactory JSON = new JsonFactory();
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    /// A body that cannot be read as what it says that it is.
    public static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1L;

        Unreadable(String clause) {
            super(clause);
        }
    }

    /// Octets that give way to the value.
    private record Span(int from, int to) {}

    private FilledBody() {}

    /// A body with the value in it, to be cleared; null if the surrogate does not stand there.
    ///
    /// @param contentType in a body of neither kind nothing is looked for
    /// @throws Unreadable with a clause about the body
    static byte @Nullable [] of(byte[] body, @Nullable String contentType, JsonPointer at, GuestSecret secret)
            throws Unreadable {
        String type =
                contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (type.equals("application/json") || type.endsWith("+json")) {
            Span span = only(inJson(body, at, secret.surrogate()), at);
            return span == null
                    ? null
                    : filled(body, span, Coding.JSON.of(secret.value().octets()));
        }
        if (type.equals("application/x-www-form-urlencoded")) {
            Span span = only(inForm(body, at, secret.surrogate()), at);
            return span == null
                    ? null
                    : filled(body, span, Coding.PERCENT.of(secret.value().octets()));
        }
        return null;
    }

    /// What is said twice, its readers may read differently.
    private static @Nullable Span only(List<Span> spans, JsonPointer at) throws Unreadable {
        if (spans.size() > 1) {
            throw new Unreadable("it has the surrogate more than once at " + at);
        }
        return spans.isEmpty() ? null : spans.getFirst();
    }

    private static List<Span> inJson(byte[] body, JsonPointer at, String surrogate) throws Unreadable {
        var spans = new ArrayList<Span>();
        if (Arrays.equals(Arrays.copyOf(body, BYTE_ORDER_MARK.length), BYTE_ORDER_MARK)) {
            throw new Unreadable("it begins with a byte order mark");
        }
        try (JsonParser parser = JSON.createParser(body)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.VALUE_STRING
                        && parser.getText().equals(surrogate)
                        && parser.getParsingContext().pathAsPointer().equals(at)) {
                    long from = parser.currentTokenLocation().getByteOffset();
                    if (from < 0) {
                        throw new Unreadable("it is not in UTF-8");
                    }
                    int to = (int) parser.currentLocation().getByteOffset();
                    spans.add(new Span((int) from + 1, to - 1)); // between the quotes
                }
            }
        } catch (JsonProcessingException e) {
            throw new Unreadable("it is not JSON: " + e.getOriginalMessage());
        } catch (Unreadable e) {
            throw e;
        } catch (IOException e) {
            throw new Unreadable("it cannot be read: " + e.getMessage());
        }
        return spans;
    }

    private static List<Span> inForm(byte[] body, JsonPointer at, String surrogate) throws Unreadable {
        var spans = new ArrayList<Span>();
        if (!at.tail().matches()) {
            return spans; // a form has nothing inside of its values
        }
        var text = new String(body, StandardCharsets.ISO_8859_1);
        for (int from = 0; from <= text.length(); ) {
            int next = text.indexOf('&', from);
            int to = next < 0 ? text.length() : next;
            int equals = text.indexOf('=', from);
            if (equals >= from
                    && equals < to
                    && decoded(text.substring(from, equals)).equals(at.getMatchingProperty())
                    && decoded(text.substring(equals + 1, to)).equals(surrogate)) {
                spans.add(new Span(equals + 1, to));
            }
            from = to + 1;
        }
        return spans;
    }

    private static String decoded(String text) throws Unreadable {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException _) {
            throw new Unreadable("it is not a form: it has a % without two hexadecimal digits");
        }
    }

    /// @param value which is cleared
    private static byte[] filled(byte[] body, Span span, byte[] value) {
        var octets = new byte[body.length - (span.to - span.from) + value.length];
        System.arraycopy(body, 0, octets, 0, span.from);
        System.arraycopy(value, 0, octets, span.from, value.length);
        System.arraycopy(body, span.to, octets, span.from + value.length, body.length - span.to);
        Arrays.fill(value, (byte) 0);
        return octets;
    }
}
