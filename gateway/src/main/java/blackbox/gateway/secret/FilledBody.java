package blackbox.gateway.secret;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A request's body as it leaves: where the surrogate is the whole value at its place, in JSON or in a form,
/// the secret is there, in their quotation. All other octets are the guest's.
public final class FilledBody {
    private static final int DEPTH_MAX = 200;

    /// Names are the guest's, so none is kept beyond its body.
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    /// What is left of a form's octets when names and values are encoded, with some that browsers leave: no
    /// quotes and no brackets, so that nothing else can be read as a form.
    private static final String FORM_MARKS = "*._~!'()/:;?@,$+=&-";

    private static final Pattern CHARSET =
            Pattern.compile(";\\s*charset\\s*=\\s*+\"?+(?!utf-?8\\b|us-ascii\\b)", Pattern.CASE_INSENSITIVE);

    private enum Kind {
        JSON,
        FORM,
        OTHER
    }

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

    /// Whether a value can be put into bodies of this type.
    ///
    /// @param contentType the fields of that name, with commas between; null if there is none
    public static boolean isFor(@Nullable String contentType) {
        return kind(contentType) != Kind.OTHER;
    }

    private static Kind kind(@Nullable String contentType) {
        if (contentType == null) {
            return Kind.OTHER;
        }
        for (String each : contentType.split(",", -1)) {
            String type = each.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
            if (type.equals("application/x-www-form-urlencoded")) {
                return Kind.FORM;
            }
            if (type.equals("application/json") || type.equals("text/json") || type.endsWith("+json")) {
                return Kind.JSON;
            }
        }
        return Kind.OTHER;
    }

    /// A body with the value in it, to be cleared; null if the surrogate does not stand there.
    ///
    /// @param contentType as in [#isFor]
    /// @throws Unreadable with a clause about the body
    static byte @Nullable [] of(byte[] body, @Nullable String contentType, JsonPointer at, GuestSecret secret)
            throws Unreadable {
        Kind kind = kind(contentType);
        if (contentType == null || kind == Kind.OTHER) {
            return null;
        }
        if (contentType.indexOf(',') >= 0) {
            throw new Unreadable("it has more than one Content-Type");
        }
        if (CHARSET.matcher(contentType).find()) {
            throw new Unreadable("its charset is not utf-8");
        }
        Span span = kind == Kind.JSON ? inJson(body, at, secret.surrogate()) : inForm(body, at, secret.surrogate());
        Coding coding = kind == Kind.JSON ? Coding.JSON : Coding.PERCENT;
        return span == null ? null : filled(body, span, coding.of(secret.value().octets()));
    }

    /// What is said twice, its readers may read differently.
    private static Span only(@Nullable Span before, Span span, JsonPointer at) throws Unreadable {
        if (before != null) {
            throw new Unreadable("it has the surrogate more than once at " + at);
        }
        return span;
    }

    private static @Nullable Span inJson(byte[] body, JsonPointer at, String surrogate) throws Unreadable {
        if (Arrays.equals(Arrays.copyOf(body, BYTE_ORDER_MARK.length), BYTE_ORDER_MARK)) {
            throw new Unreadable("it begins with a byte order mark");
        }
        Span found = null;
        try (JsonParser parser = JSON.createParser(body)) {
            boolean whole = false;
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (whole) {
                    throw new Unreadable("it is JSON with more behind it");
                }
                if (parser.currentTokenLocation().getByteOffset() < 0) {
                    throw new Unreadable("it is not in UTF-8");
                }
                if (token == JsonToken.VALUE_STRING
                        && isAt(parser.getParsingContext(), at)
                        && parser.getText().equals(surrogate)) {
                    // Between the quotes.
                    long from = parser.currentTokenLocation().getByteOffset() + 1;
                    long to = parser.currentLocation().getByteOffset() - 1;
                    found = only(found, new Span((int) from, (int) to), at);
                }
                whole = parser.getParsingContext().inRoot();
            }
        } catch (JsonProcessingException e) {
            // What the reader says has octets of the body in it.
            JsonLocation where = e.getLocation();
            throw new Unreadable(
                    "it is not JSON that can be read" + (where == null ? "" : " at octet " + where.getByteOffset()));
        } catch (Unreadable e) {
            throw e;
        } catch (IOException _) {
            throw new Unreadable("it cannot be read");
        }
        return found;
    }

    /// Whether a value is where a pointer leads; the pointer is short, whatever the guest's names are.
    private static boolean isAt(JsonStreamContext context, JsonPointer at) {
        JsonStreamContext step = context;
        for (JsonPointer rest = at; !rest.matches(); rest = rest.head()) {
            JsonPointer last = rest.last();
            boolean fits = step != null
                    && !step.inRoot()
                    && last != null
                    && (step.inObject()
                            ? last.getMatchingProperty().equals(step.getCurrentName())
                            : last.getMatchingIndex() == step.getCurrentIndex());
            if (!fits) {
                return false;
            }
            step = step.getParent();
        }
        return step != null && step.inRoot();
    }

    private static @Nullable Span inForm(byte[] body, JsonPointer at, String surrogate) throws Unreadable {
        var text = new String(body, StandardCharsets.ISO_8859_1);
        if (!isForm(text)) {
            throw new Unreadable("it is not a form that is encoded throughout");
        }
        Span found = null;
        boolean isName = at.tail().matches(); // a form has nothing inside of its values
        for (int from = 0; isName && from <= text.length(); ) {
            int next = text.indexOf('&', from);
            int to = next < 0 ? text.length() : next;
            int equals = text.indexOf('=', from);
            if (equals >= from
                    && equals < to
                    && decoded(text.substring(from, equals)).equals(at.getMatchingProperty())
                    && decoded(text.substring(equals + 1, to)).equals(surrogate)) {
                found = only(found, new Span(equals + 1, to), at);
            }
            from = to + 1;
        }
        return found;
    }

    private static boolean isForm(String text) {
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '%') {
                if (at + 2 >= text.length() || !isHex(text.charAt(at + 1)) || !isHex(text.charAt(at + 2))) {
                    return false;
                }
                at += 2;
            } else if (!isPlain(c) && FORM_MARKS.indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isPlain(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
    }

    private static boolean isHex(char c) {
        return c < 0x80 && Character.digit(c, 16) >= 0;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
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
