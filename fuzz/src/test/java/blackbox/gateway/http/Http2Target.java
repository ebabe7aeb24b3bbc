package blackbox.gateway.http;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.fuzz.FuzzTarget;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.http.HttpReader.Head;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Heads of answers, and of a guest's requests in HTTP/2, in HPACK behind an octet that says whether they are whole:
/// what is forwarded
/// is read as the same, and would be the same request if it were sent on in HTTP/1.1.
public final class Http2Target {
    private static final int PORT = 443;
    private static final int LITERAL_BYTES_MAX = 126;

    /// The target.
    public static final FuzzTarget TARGET =
            FuzzTarget.of("gateway-http2", 4 << 10, Http2Target::forwarded, Http2Target::seeds);

    private Http2Target() {}

    private static boolean forwarded(byte[] octets) {
        boolean whole = octets.length > 0 && (octets[0] & 1) != 0;
        ByteBuf block = Unpooled.wrappedBuffer(octets).skipBytes(Math.min(1, octets.length));
        GuestRequest request;
        try {
            Http2Headers headers =
                    new DefaultHttp2HeadersDecoder(false, HttpReader.FIELDS_BYTES_MAX).decodeHeaders(1, block);
            if (headers.contains(":status")) {
                ensureAnswer(headers, whole);
                return true;
            }
            request = Http2Heads.request(headers, whole);
        } catch (Http2Exception _) {
            return false;
        } catch (HttpFault fault) {
            ensure(fault.status() >= HttpFault.BAD_REQUEST && !fault.text().isEmpty(), "a refusal without a reason");
            return false;
        }
        Outgoing outgoing = Outgoing.plain(request, request.judged().target());
        String authority = request.canonicalAuthority(PORT);
        try {
            Http2Headers once = Http2Heads.request(outgoing, authority).headers();
            GuestRequest again = Http2Heads.request(once, whole);
            Outgoing next = Outgoing.plain(again, again.judged().target());
            ensure(
                    once.equals(Http2Heads.request(next, again.canonicalAuthority(PORT))
                            .headers()),
                    "it changes again");
            ensureSame(request.judged(), authority, again);
            ensureSame(request.judged(), authority, inHttp1(outgoing, authority));
        } catch (HttpFault fault) {
            throw new AssertionError("what is forwarded is refused: " + fault.text());
        }
        return true;
    }

    private static GuestRequest inHttp1(Outgoing outgoing, String authority) throws HttpFault {
        var reader = new HttpReader(UnpooledByteBufAllocator.DEFAULT);
        try {
            reader.add(Unpooled.wrappedBuffer(
                    HttpWriter.request(outgoing, authority, outgoing.request().framing())));
            if (!(reader.next() instanceof Head head)) {
                throw new AssertionError("it is no whole head");
            }
            ensure(reader.buffered() == 0, "something follows its head");
            return GuestRequest.of(head);
        } finally {
            reader.close();
        }
    }

    private static void ensureSame(RequestHead judged, String authority, GuestRequest read) {
        RequestHead other = read.judged();
        ensure(
                judged.method().equals(other.method())
                        && judged.target().equals(other.target())
                        && judged.mediaTypes().equals(other.mediaTypes())
                        && other.authority().equals(authority),
                judged + " is read as " + other);
    }

    /// What is passed on of an answer can be passed on again.
    private static void ensureAnswer(Http2Headers headers, boolean whole) throws HttpFault {
        UpstreamAnswer answer = Http2Heads.answer(headers, whole, "GET");
        Http2Headers once = Http2Heads.answer(answer, true).headers();
        UpstreamAnswer again = Http2Heads.answer(once, whole, "GET");
        ensure(once.equals(Http2Heads.answer(again, true).headers()), "the answer changes again");
    }

    private static Map<String, byte[]> seeds() {
        return Map.of(
                "get",
                        block(
                                1,
                                ":method GET|:scheme https|:authority A.example:443|:path /a?b|accept-encoding br, gzip"),
                "post", block(0, ":method POST|:scheme https|:authority a|:path /|content-length 3|te trailers|x y"),
                "host", block(0, ":method PUT|:scheme https|:authority a|:path /|host A|expect 100-continue"),
                "answer", block(0, ":status 200|content-type application/grpc|content-length 3"));
    }

    /// Literals that are not kept.
    private static byte[] block(int flag, String fields) {
        var out = new ByteArrayOutputStream();
        out.write(flag);
        for (String field : fields.split("\\|")) {
            out.write(0);
            for (String part : field.split(" ", 2)) {
                ensure(part.length() <= LITERAL_BYTES_MAX, "a longer seed needs another length");
                out.write(part.length());
                out.writeBytes(part.getBytes(StandardCharsets.US_ASCII));
            }
        }
        return out.toByteArray();
    }
}
