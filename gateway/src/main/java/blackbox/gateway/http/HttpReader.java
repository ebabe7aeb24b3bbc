package blackbox.gateway.http;

import blackbox.gateway.egress.HttpField;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads messages of HTTP/1.0 and 1.1 (RFC 9112), and nothing that is only nearly so: no line that ends with LF alone,
/// no folded field, no control character, no chunk extension, no white space where none belongs.
///
/// Whoever uses it pulls parts out of what was added; between a head and its body it says how that is framed. Owned by
/// the loop.
final class HttpReader {
    static final int START_BYTES_MAX = 16 << 10;
    static final int FIELDS_BYTES_MAX = 64 << 10;
    static final int FIELDS_MAX = 512;
    private static final int CHUNK_DIGITS_MAX = 15;
    private static final int HEX = 16;

    private final ByteBufAllocator allocator;
    private ByteBuf octets = Unpooled.EMPTY_BUFFER;
    private State state = State.START;
    private int scanned;
    private String start = "";
    private final List<HttpField> fields = new ArrayList<>();
    private int fieldsBytes;
    private long left;
    /// Whether the last step could do nothing without more octets.
    private boolean waiting;

    /// What a message consists of: a head, any number of pieces of its body, an end.
    sealed interface Part {}

    /// @param start the first line without its end
    record Head(String start, Fields fields) implements Part {}

    /// @param octets to be released by who takes it
    record Data(ByteBuf octets) implements Part {}

    record End(Fields trailer) implements Part {}

    private enum State {
        START,
        FIELDS,
        FRAMING,
        LENGTH,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        TRAILER,
        UNTIL_CLOSE
    }

    HttpReader(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /// Adds what came, and takes ownership of it.
    void add(ByteBuf more) {
        octets = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(allocator, octets, more);
    }

    int buffered() {
        return octets.readableBytes();
    }

    /// Whether nothing of a message has come.
    boolean isIdle() {
        return state == State.START && !octets.isReadable();
    }

    /// What was added and is not read yet.
    ByteBuf rest() {
        ByteBuf rest = octets;
        octets = Unpooled.EMPTY_BUFFER;
        return rest;
    }

    void close() {
        octets.release();
        octets = Unpooled.EMPTY_BUFFER;
    }

    /// Says how the body ends, after its head.
    void frame(Framing framing) {
        if (state != State.FRAMING) {
            throw new IllegalStateException("no head was read before");
        }
        left = framing.length();
        state = switch (framing.kind()) {
            case NONE, LENGTH -> State.LENGTH;
            case CHUNKED -> State.CHUNK_SIZE;
            case UNTIL_CLOSE -> State.UNTIL_CLOSE;
        };
    }

    /// The end of the connection: whether that is the end of a message, too.
    boolean endsByClose() {
        return state == State.UNTIL_CLOSE;
    }

    /// The next part, or null if more octets are needed.
    @Nullable
    Part next() throws HttpFault {
        try {
            for (; ; ) {
                waiting = true;
                Part part = step();
                if (part != null || waiting) {
                    return part;
                }
            }
        } finally {
            tidy();
        }
    }

    private @Nullable Part step() throws HttpFault {
        return switch (state) {
            case START -> start();
            case FIELDS, TRAILER -> field();
            case FRAMING -> throw new IllegalStateException("how the body is framed was not said");
            case LENGTH -> left == 0 ? end(Fields.NONE) : data();
            case CHUNK_SIZE -> chunkSize();
            case CHUNK -> left == 0 ? to(State.CHUNK_END) : data();
            case CHUNK_END -> chunkEnd();
            case UNTIL_CLOSE -> {
                left = Long.MAX_VALUE;
                yield data();
            }
        };
    }

    private @Nullable Part to(State next) {
        state = next;
        waiting = false;
        return null;
    }

    private @Nullable Part start() throws HttpFault {
        String line = line(START_BYTES_MAX, HttpFault.TARGET_TOO_LONG, "its first line is too long");
        if (line == null) {
            return null;
        }
        start = line;
        return to(State.FIELDS);
    }

    private @Nullable Part field() throws HttpFault {
        String line =
                line(FIELDS_BYTES_MAX - fieldsBytes, HttpFault.FIELDS_TOO_LARGE, "its fields have more than 64 KiB");
        if (line == null) {
            return null;
        }
        waiting = false;
        if (!line.isEmpty()) {
            fieldsBytes += line.length() + 2;
            if (fields.size() == FIELDS_MAX) {
                throw new HttpFault(HttpFault.FIELDS_TOO_LARGE, "it has more than " + FIELDS_MAX + " fields");
            }
            fields.add(parse(line));
            return null;
        }
        var read = new Fields(fields);
        fields.clear();
        fieldsBytes = 0;
        if (state == State.TRAILER) {
            return end(read);
        }
        state = State.FRAMING;
        return new Head(start, read);
    }

    private static HttpField parse(String line) throws HttpFault {
        int colon = line.indexOf(':');
        if (line.startsWith(" ") || line.startsWith("\t")) {
            throw HttpFault.bad("a field is folded over two lines");
        }
        if (colon <= 0 || !isToken(line.substring(0, colon))) {
            throw HttpFault.bad("a field has no proper name");
        }
        int from = colon + 1;
        int to = line.length();
        while (from < to && isBlank(line.charAt(from))) {
            from++;
        }
        while (to > from && isBlank(line.charAt(to - 1))) {
            to--;
        }
        String value = line.substring(from, to);
        if (!value.chars().allMatch(c -> c == '\t' || c >= ' ' && c != 0x7f)) {
            throw HttpFault.bad("a field has a control character in it");
        }
        return new HttpField(line.substring(0, colon), value);
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /// Whether it is a token (RFC 9110 section 5.6.2).
    static boolean isToken(String text) {
        return !text.isEmpty() && text.chars().allMatch(HttpReader::isTokenChar);
    }

    static boolean isTokenChar(int c) {
        return c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || c >= '0' && c <= '9'
                || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
    }

    private @Nullable Part data() {
        int count = (int) Math.min(left, octets.readableBytes());
        if (count == 0) {
            return null;
        }
        left -= count;
        return new Data(octets.readRetainedSlice(count));
    }

    private @Nullable Part chunkSize() throws HttpFault {
        String line = line(CHUNK_DIGITS_MAX + 2, HttpFault.BAD_REQUEST, "a chunk has no proper size");
        if (line == null) {
            return null;
        }
        boolean number = !line.isEmpty() && line.chars().allMatch(c -> c < 0x80 && Character.digit(c, HEX) >= 0);
        if (!number) {
            throw HttpFault.bad("the size of a chunk is not a hexadecimal number alone");
        }
        left = Long.parseLong(line, HEX);
        return to(left == 0 ? State.TRAILER : State.CHUNK);
    }

    private @Nullable Part chunkEnd() throws HttpFault {
        String line = line(2, HttpFault.BAD_REQUEST, "a chunk is longer than its size");
        if (line == null) {
            return null;
        }
        return to(State.CHUNK_SIZE);
    }

    private Part end(Fields trailer) {
        state = State.START;
        start = "";
        return new End(trailer);
    }

    /// The next line without its end, or null if it has not come.
    ///
    /// @param most octets that it may have, with its end
    private @Nullable String line(int most, int status, String tooLong) throws HttpFault {
        int from = octets.readerIndex();
        int end = octets.indexOf(from + scanned, octets.writerIndex(), (byte) '\n');
        int length = end < 0 ? octets.readableBytes() : end - from + 1;
        if (length > most) {
            throw new HttpFault(status, tooLong);
        }
        if (end < 0) {
            scanned = length;
            return null;
        }
        if (length < 2 || octets.getByte(end - 1) != '\r') {
            throw HttpFault.bad("a line does not end with CR and LF");
        }
        scanned = 0;
        String line =
                octets.readCharSequence(length, StandardCharsets.ISO_8859_1).toString();
        line = line.substring(0, length - 2);
        if (line.indexOf('\r') >= 0) {
            throw HttpFault.bad("a line has a carriage return in it");
        }
        return line;
    }

    private void tidy() {
        if (!octets.isReadable()) {
            octets.release();
            octets = Unpooled.EMPTY_BUFFER;
        } else if (octets.refCnt() == 1) {
            octets.discardSomeReadBytes();
        }
    }
}
