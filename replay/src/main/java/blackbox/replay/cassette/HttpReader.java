package blackbox.replay.cassette;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Finds where the HTTP/1.1 messages of a recorded stream end (RFC 9112). It is strict: of what two readers could
/// understand in two ways it says that it is not HTTP. Bodies are stepped over, not read.
final class HttpReader {
    private static final int LINE_MAX = 16 << 10;
    private static final int FIELDS_MAX = 200;
    private static final int CHUNK_BYTES = 4 << 10;
    private static final byte[] NOTHING = new byte[0];

    private final Source stream;
    private long at;
    private long bufferAt;
    private byte[] buffer = NOTHING;

    HttpReader(Source stream) {
        this.stream = stream;
    }

    /// Where messages are.
    interface Source {
        long length();

        /// At least one and at most `max` octets from `at` on, which is before the end.
        byte[] read(long at, int max);
    }

    /// A message up to its body.
    ///
    /// @param first its first line
    /// @param fields names in lower case, each with its value
    record Head(String first, List<Field> fields) {
        record Field(String name, String value) {}

        /// Whether it is of HTTP/1.0, as its request or status line says.
        boolean isOld() {
            return first.startsWith("HTTP/1.0 ") || first.endsWith(" HTTP/1.0");
        }

        List<String> all(String name) {
            return fields.stream()
                    .filter(field -> field.name().equals(name))
                    .map(Field::value)
                    .toList();
        }
    }

    /// How a body ends.
    sealed interface Body {
        /// With the connection.
        record UntilEnd() implements Body {}

        record Chunks() implements Body {}

        record Length(long octets) implements Body {}
    }

    /// That the stream ends in the middle of a message, or is none.
    static final class NoMessage extends Exception {
        private static final long serialVersionUID = 1L;

        /// Whether it is HTTP as far as it goes.
        private final boolean cut;

        NoMessage(boolean cut) {
            super(cut ? "the message is not whole" : "it is not HTTP/1.1", null, false, false);
            this.cut = cut;
        }

        boolean isCut() {
            return cut;
        }
    }

    /// Where the next message begins.
    long at() {
        return at;
    }

    boolean isAtEnd() {
        return at == stream.length();
    }

    Head head() throws NoMessage {
        String first = line();
        var fields = new ArrayList<Head.Field>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            if (colon <= 0 || fields.size() == FIELDS_MAX || !isToken(line.substring(0, colon))) {
                throw new NoMessage(false);
            }
            fields.add(new Head.Field(
                    line.substring(0, colon).toLowerCase(Locale.ROOT), withoutSpace(line.substring(colon + 1))));
        }
        return new Head(first, fields);
    }

    /// How the body ends according to the message's fields, or null if they do not say (RFC 9112 section 6.3).
    static @Nullable Body body(Head head) throws NoMessage {
        List<String> codings = head.all("transfer-encoding");
        List<String> lengths = head.all("content-length");
        if (codings.isEmpty() && lengths.isEmpty()) {
            return null;
        }
        if (codings.size() + lengths.size() > 1) {
            throw new NoMessage(false);
        }
        if (codings.isEmpty()) {
            return new Body.Length(number(lengths.getFirst(), 10));
        }
        // An HTTP/1.0 peer does not know chunks, so where such a body ends depends on who reads it (section 6.1).
        if (!codings.getFirst().equalsIgnoreCase("chunked") || head.isOld()) {
            throw new NoMessage(false);
        }
        return new Body.Chunks();
    }

    /// Steps over a body.
    void pass(Body body) throws NoMessage {
        switch (body) {
            case Body.UntilEnd _ -> at = stream.length();
            case Body.Length length -> skip(length.octets());
            case Body.Chunks _ -> chunks();
        }
    }

    private void chunks() throws NoMessage {
        while (true) {
            String line = line();
            int extension = line.indexOf(';');
            long size = number(withoutSpace(extension < 0 ? line : line.substring(0, extension)), 16);
            if (size == 0) {
                break;
            }
            skip(size);
            if (!line().isEmpty()) {
                throw new NoMessage(false);
            }
        }
        for (int trailers = 0; !line().isEmpty(); trailers++) {
            if (trailers == FIELDS_MAX) {
                throw new NoMessage(false);
            }
        }
    }

    private static long number(String digits, int radix) throws NoMessage {
        if (digits.isEmpty()
                || digits.length() > 15
                || !digits.chars().allMatch(c -> c < 0x80 && Character.digit(c, radix) >= 0)) {
            throw new NoMessage(false);
        }
        return Long.parseLong(digits, radix);
    }

    /// Without the spaces and tabs around it: no other octet is white space (RFC 9110 section 5.6.3).
    private static String withoutSpace(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && isSpace(text.charAt(from))) {
            from++;
        }
        while (to > from && isSpace(text.charAt(to - 1))) {
            to--;
        }
        return text.substring(from, to);
    }

    private static boolean isSpace(char letter) {
        return letter == ' ' || letter == '\t';
    }

    private static boolean isToken(String name) {
        return name.chars().allMatch(c -> c > ' ' && c < 0x7f && "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0);
    }

    private void skip(long octets) throws NoMessage {
        if (octets > stream.length() - at) {
            throw new NoMessage(true);
        }
        at += octets;
    }

    /// The next line, without its end; each character an octet.
    private String line() throws NoMessage {
        var line = new StringBuilder();
        while (true) {
            int octet = next();
            if (octet == '\r') {
                if (next() != '\n') {
                    throw new NoMessage(false);
                }
                return line.toString();
            }
            if (octet == '\n' || line.length() == LINE_MAX) {
                throw new NoMessage(false);
            }
            line.append((char) octet);
        }
    }

    private int next() throws NoMessage {
        if (at < bufferAt || at >= bufferAt + buffer.length) {
            if (isAtEnd()) {
                throw new NoMessage(true);
            }
            buffer = stream.read(at, CHUNK_BYTES);
            bufferAt = at;
        }
        return buffer[(int) (at++ - bufferAt)] & 0xff;
    }
}
