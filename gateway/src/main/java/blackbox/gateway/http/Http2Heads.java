package blackbox.gateway.http;

import blackbox.gateway.egress.HttpField;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.secret.FilledHead;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the heads and trailers of HTTP/2 (RFC 9113 section 8), and writes them in one form. What Netty makes of HPACK
/// is not checked there, so that whoever sent it can be told what is wrong.
final class Http2Heads {
    /// What belongs to one connection of HTTP/1.1.
    private static final Set<String> FORBIDDEN =
            Set.of("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings");

    private static final Set<String> OF_REQUESTS = Set.of(":method", ":scheme", ":authority", ":path");
    private static final Set<String> OF_ANSWERS = Set.of(":status");
    private static final Set<String> OF_TRAILERS = Set.of();
    private static final int FIELD_OVERHEAD = 32;
    private static final int TRAILER_OCTETS_MAX = 16 << 10;
    private static final int FIRST_FINAL = 200;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;

    private Http2Heads() {}

    /// A head as it is sent, and what of it must not stay in memory.
    record Written(Http2Headers headers, List<byte[]> values) {

        void clear() {
            values.forEach(value -> Arrays.fill(value, (byte) 0));
        }
    }

    /// How long a head is, as HTTP/2 counts it (RFC 9113 section 6.5.2).
    static int octets(Http2Headers headers) {
        int octets = 0;
        for (Map.Entry<CharSequence, CharSequence> each : headers) {
            octets += FIELD_OVERHEAD + each.getKey().length() + each.getValue().length();
        }
        return octets;
    }

    private record Read(Map<String, String> pseudo, Fields fields) {

        String only(String name) throws HttpFault {
            String value = pseudo.get(name);
            if (value == null) {
                throw HttpFault.bad("it has no " + name);
            }
            return value;
        }
    }

    private static Read read(Http2Headers headers, Set<String> known) throws HttpFault {
        if (headers.size() > HttpReader.FIELDS_MAX) {
            throw new HttpFault(HttpFault.FIELDS_TOO_LARGE, "it has more than " + HttpReader.FIELDS_MAX + " fields");
        }
        var pseudo = new HashMap<String, String>();
        var fields = new ArrayList<HttpField>(headers.size());
        for (Map.Entry<CharSequence, CharSequence> each : headers) {
            String name = each.getKey().toString();
            String value = each.getValue().toString();
            checkValue(value);
            if (!name.startsWith(":")) {
                checkName(name, value);
                fields.add(new HttpField(name, value));
            } else if (!known.contains(name)) {
                throw HttpFault.bad("it has a pseudo field that does not belong there");
            } else if (pseudo.put(name, value) != null) {
                throw HttpFault.bad("it has more than one " + name);
            }
        }
        return new Read(pseudo, new Fields(fields));
    }

    private static void checkValue(String value) throws HttpFault {
        if (!value.chars().allMatch(c -> c == '\t' || c >= ' ' && c != 0x7f)) {
            throw HttpFault.bad("a field has a control character in it");
        }
        if (!value.isEmpty() && (isBlank(value.charAt(0)) || isBlank(value.charAt(value.length() - 1)))) {
            throw HttpFault.bad("a field begins or ends with white space");
        }
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    private static void checkName(String name, String value) throws HttpFault {
        if (!HttpReader.isToken(name) || !name.equals(name.toLowerCase(Locale.ROOT))) {
            throw HttpFault.bad("a field has no proper name");
        }
        if (FORBIDDEN.contains(name) || name.equals("te") && !value.equals("trailers")) {
            throw HttpFault.bad("it has the field " + name + ", which belongs to HTTP/1.1");
        }
    }

    /// A guest's request.
    ///
    /// @param whole whether nothing follows its head
    static GuestRequest request(Http2Headers headers, boolean whole) throws HttpFault {
        Read read = read(headers, OF_REQUESTS);
        String authority = read.only(":authority");
        if (!read.only(":scheme").equals("https")) {
            throw HttpFault.bad("its :scheme is not https");
        }
        for (String host : read.fields.values("host")) {
            if (!host.equalsIgnoreCase(authority)) {
                throw HttpFault.bad("its Host is not its :authority");
            }
        }
        Framing framing = framing(read.fields, whole);
        return GuestRequest.http2(read.only(":method"), authority, read.only(":path"), read.fields, framing);
    }

    /// How long a body is; [Kind#CHUNKED] if it says nothing.
    private static Framing framing(Fields fields, boolean whole) throws HttpFault {
        Framing said = Framing.of(fields, 1, whole ? Framing.NONE : Framing.CHUNKED);
        if (whole && said.length() > 0) {
            throw HttpFault.bad("its Content-Length is not the length of its body");
        }
        return whole ? Framing.NONE : said;
    }

    /// The other side's answer.
    ///
    /// @param whole whether nothing follows its head
    /// @param method of the request
    static UpstreamAnswer answer(Http2Headers headers, boolean whole, String method) throws HttpFault {
        Read read = read(headers, OF_ANSWERS);
        String text = read.only(":status");
        if (!text.matches("[1-5][0-9][0-9]") || text.equals("101")) {
            throw HttpFault.bad("its :status is not that of an answer in HTTP/2");
        }
        int status = Integer.parseInt(text);
        if (status < FIRST_FINAL && whole) {
            throw HttpFault.bad("it ends with an interim answer");
        }
        boolean without =
                status < FIRST_FINAL || status == NO_CONTENT || status == NOT_MODIFIED || method.equals("HEAD");
        Framing said = framing(read.fields, whole && !without);
        return new UpstreamAnswer(status, "", read.fields, without ? Framing.NONE : said, false);
    }

    /// What follows a body. It may wait behind that, and is therefore shorter than a head may be.
    static Fields trailer(Http2Headers headers) throws HttpFault {
        if (octets(headers) > TRAILER_OCTETS_MAX) {
            throw new HttpFault(HttpFault.FIELDS_TOO_LARGE, "its trailer has more than 16 KiB");
        }
        return read(headers, OF_TRAILERS).fields.trailing();
    }

    /// A request as it is forwarded. It may have secrets in it: whoever sends it clears it then.
    static Written request(Outgoing outgoing, String authority) {
        GuestRequest request = outgoing.request();
        var out = new Writing(outgoing.head());
        out.add(":method", request.judged().method());
        out.add(":scheme", "https");
        out.add(":authority", authority);
        out.add(":path", outgoing.head().target());
        outgoing.fields().all().forEach(field -> out.add(field.name(), field.value()));
        out.add("accept-encoding", HttpWriter.acceptEncoding(outgoing));
        if (request.fields().has("te")) {
            out.add("te", "trailers");
        }
        if (request.framing().is(Kind.LENGTH)) {
            out.add("content-length", Long.toString(request.framing().length()));
        }
        return out.done();
    }

    /// An answer as the guest is sent it.
    ///
    /// @param lengthHolds whether its body has the length that the other side says
    static Written answer(UpstreamAnswer answer, boolean lengthHolds) {
        var out = new Writing(null);
        out.add(":status", Integer.toString(answer.status()));
        answer.fields().endToEnd(HttpWriter.NOT_PASSED_ON).all().forEach(field -> out.add(field.name(), field.value()));
        if (lengthHolds && !answer.isInterim() && answer.status() != NO_CONTENT) {
            answer.fields().values("content-length").forEach(length -> out.add("content-length", length));
        }
        return out.done();
    }

    static Written trailer(Fields fields) {
        var out = new Writing(null);
        fields.trailing().all().forEach(field -> out.add(field.name(), field.value()));
        return out.done();
    }

    /// An answer of the gateway's own.
    static Written own(int status, int length) {
        var out = new Writing(null);
        out.add(":status", Integer.toString(status));
        out.add("content-type", "application/json");
        out.add("cache-control", "no-store");
        out.add("content-length", Integer.toString(length));
        return out.done();
    }

    static Written goOn() {
        var out = new Writing(null);
        out.add(":status", "100");
        return out.done();
    }

    private static final class Writing {
        private final @Nullable FilledHead secrets;
        private final Http2Headers headers = new DefaultHttp2Headers(false);
        private final List<byte[]> values = new ArrayList<>();

        Writing(@Nullable FilledHead secrets) {
            this.secrets = secrets;
        }

        void add(String name, String value) {
            byte[] written = secrets == null ? value.getBytes(StandardCharsets.ISO_8859_1) : secrets.octets(value);
            values.add(written);
            headers.add(AsciiString.of(name.toLowerCase(Locale.ROOT)), new AsciiString(written, false));
        }

        Written done() {
            return new Written(headers, values);
        }
    }
}
