package blackbox.gateway.http;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.fuzz.FuzzTarget;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.http.HttpReader.Data;
import blackbox.gateway.http.HttpReader.End;
import blackbox.gateway.http.HttpReader.Head;
import blackbox.gateway.http.HttpReader.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Requests of a guest: what is forwarded of them is read as just as many, and would be forwarded as it is.
public final class HttpTarget {
    private static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false);
    private static final int PORT = 80;

    /// The target.
    public static final FuzzTarget TARGET =
            FuzzTarget.of("gateway-http", 16 << 10, HttpTarget::forwarded, HttpTarget::seeds);

    /// @param requests how many were whole
    /// @param meaning their heads, bodies and trailers, however the bodies were cut into chunks
    private record Forwarded(int requests, String meaning, byte[] octets) {}

    private HttpTarget() {}

    private static boolean forwarded(byte[] octets) {
        Forwarded once = forward(octets, octets.length);
        ensure(once.meaning.equals(forward(octets, 7).meaning), "it depends on how the octets came");
        Forwarded twice = forward(once.octets, once.octets.length);
        ensure(twice.requests == once.requests, once.requests + " requests were read as " + twice.requests);
        ensure(Arrays.equals(once.octets, twice.octets), "what is forwarded is not what would be forwarded of it");
        return once.requests > 0;
    }

    /// What goes out of octets that come in pieces, until something is refused.
    private static Forwarded forward(byte[] octets, int piece) {
        ByteBuf out = Unpooled.buffer();
        var meaning = new StringBuilder();
        var reader = new HttpReader(ALLOCATOR);
        int requests = 0;
        try {
            GuestRequest now = null;
            for (int at = 0; at < octets.length; at += piece) {
                reader.add(Unpooled.copiedBuffer(octets, at, Math.min(piece, octets.length - at)));
                for (Part part = reader.next(); part != null; part = reader.next()) {
                    switch (part) {
                        case Head head -> {
                            now = GuestRequest.of(head);
                            reader.frame(now.framing());
                            String authority = now.canonicalAuthority(PORT);
                            ByteBuf written = Unpooled.wrappedBuffer(HttpWriter.request(
                                    Outgoing.plain(now, now.judged().target()), authority, now.framing()));
                            meaning.append(written.toString(StandardCharsets.ISO_8859_1));
                            write(out, written);
                        }
                        case Data data -> {
                            meaning.append(data.octets().toString(StandardCharsets.ISO_8859_1));
                            write(out, isChunked(now) ? HttpWriter.chunk(ALLOCATOR, data.octets()) : data.octets());
                        }
                        case End end -> {
                            requests++;
                            meaning.append(end.trailer());
                            if (isChunked(now)) {
                                write(out, HttpWriter.lastChunk(ALLOCATOR, end.trailer()));
                            }
                        }
                    }
                }
            }
        } catch (HttpFault fault) {
            ensure(fault.status() >= HttpFault.BAD_REQUEST && !fault.text().isEmpty(), "a refusal without a reason");
        } finally {
            reader.close();
        }
        return new Forwarded(requests, meaning.toString(), Arrays.copyOf(out.array(), out.writerIndex()));
    }

    private static boolean isChunked(@Nullable GuestRequest request) {
        return request != null && request.framing().is(Kind.CHUNKED);
    }

    private static void write(ByteBuf out, ByteBuf octets) {
        out.writeBytes(octets);
        octets.release();
    }

    private static Map<String, byte[]> seeds() {
        return Map.of(
                "get", ascii("GET /v1/a?b HTTP/1.1|Host: A.example:80|Accept-Encoding: br, gzip||"),
                "length", ascii("POST / HTTP/1.1|Host: a|Content-Length: 3||abcGET / HTTP/1.1|Host: a||"),
                "chunked", ascii("PUT / HTTP/1.1|Host: a|Transfer-Encoding: chunked||2|ab|0|X: y||"),
                "socket",
                        ascii("GET / HTTP/1.1|Host: a|Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Version: 13|"
                                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==||"));
    }

    /// @param text with `|` in place of each line's end
    private static byte[] ascii(String text) {
        return text.replace("|", "\r\n").getBytes(StandardCharsets.US_ASCII);
    }
}
