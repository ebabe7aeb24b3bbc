package blackbox.gateway.http;

import java.util.List;

/// How the end of a body is known (RFC 9112 section 6).
///
/// @param length of a body of kind [Kind#LENGTH]
record Framing(Kind kind, long length) {
    static final Framing NONE = new Framing(Kind.NONE, 0);
    static final Framing CHUNKED = new Framing(Kind.CHUNKED, 0);
    static final Framing UNTIL_CLOSE = new Framing(Kind.UNTIL_CLOSE, 0);

    private static final int LENGTH_DIGITS_MAX = 18;

    enum Kind {
        NONE,
        LENGTH,
        CHUNKED,
        UNTIL_CLOSE
    }

    boolean is(Kind other) {
        return kind == other;
    }

    /// As the fields say; `otherwise` if they say nothing.
    static Framing of(Fields fields, int minor, Framing otherwise) throws HttpFault {
        List<String> lengths = fields.values("content-length");
        List<String> codings = fields.values("transfer-encoding");
        if (!codings.isEmpty()) {
            if (!lengths.isEmpty()) {
                throw HttpFault.bad("it has both Content-Length and Transfer-Encoding");
            }
            if (minor == 0 || codings.size() != 1 || !codings.getFirst().equalsIgnoreCase("chunked")) {
                throw HttpFault.bad("its Transfer-Encoding is not exactly \"chunked\"");
            }
            return CHUNKED;
        }
        if (lengths.isEmpty()) {
            return otherwise;
        }
        String length = lengths.getFirst();
        boolean number = length.length() <= LENGTH_DIGITS_MAX
                && !length.isEmpty()
                && length.chars().allMatch(c -> c >= '0' && c <= '9');
        if (lengths.size() != 1 || !number) {
            throw HttpFault.bad("its Content-Length is not exactly one number");
        }
        return new Framing(Kind.LENGTH, Long.parseLong(length));
    }
}
