package blackbox.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.http.HttpReader.Data;
import blackbox.gateway.http.HttpReader.End;
import blackbox.gateway.http.HttpReader.Head;
import blackbox.gateway.http.HttpReader.Part;
import blackbox.schemas.Seeded;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What is accepted is written so that another reader, Netty's, finds the same requests in it, and no others.
class HttpReaderTest {
    private static final int ROUNDS = 20_000;

    private record Forwarded(String method, String target, String host, String body) {}

    /// Requests, most of them sound, with an octet changed here and there.
    private static byte[] requests(RandomGenerator random) {
        var text = new StringBuilder();
        int count = 1 + random.nextInt(3);
        for (int at = 0; at < count; at++) {
            boolean chunked = random.nextBoolean();
            String body = "x".repeat(random.nextInt(20));
            text.append("POST /")
                    .append(random.nextInt(100))
                    .append(" HTTP/1.1\r\nHost: h")
                    .append(at);
            text.append("\r\nX-A:\t ").append(random.nextInt()).append(" \r\n");
            if (chunked) {
                text.append("Transfer-Encoding: chunked\r\n\r\n");
                if (!body.isEmpty()) {
                    text.append(Integer.toHexString(body.length()))
                            .append("\r\n")
                            .append(body)
                            .append("\r\n");
                }
                text.append("0\r\n\r\n");
            } else {
                text.append("Content-Length: ")
                        .append(body.length())
                        .append("\r\n\r\n")
                        .append(body);
            }
        }
        byte[] octets = text.toString().getBytes(StandardCharsets.ISO_8859_1);
        String spice = "\r\n\t :;,0a\u0000\u007f\u00e4";
        for (int change = random.nextInt(3); change > 0; change--) {
            octets[random.nextInt(octets.length)] = (byte) spice.charAt(random.nextInt(spice.length()));
        }
        return octets;
    }

    /// Reads as a session does, in pieces, and writes into `out` what would be forwarded; stops at what is refused.
    private static List<Forwarded> forward(byte[] octets, RandomGenerator random, ByteBuf out) {
        var all = new ArrayList<Forwarded>();
        var reader = new HttpReader(ByteBufAllocator.DEFAULT);
        try {
            GuestRequest now = null;
            var body = new StringBuilder();
            for (int at = 0; at < octets.length; ) {
                int count = Math.min(octets.length - at, 1 + random.nextInt(40));
                reader.add(Unpooled.copiedBuffer(octets, at, count));
                at += count;
                for (Part part = reader.next(); part != null; part = reader.next()) {
                    switch (part) {
                        case Head head -> {
                            now = GuestRequest.of(head);
                            reader.frame(now.framing());
                            body.setLength(0);
                            write(
                                    out,
                                    Unpooled.wrappedBuffer(HttpWriter.request(
                                            Outgoing.plain(now, now.judged().target()),
                                            now.canonicalAuthority(80),
                                            now.framing())));
                        }
                        case Data data -> {
                            body.append(data.octets().toString(StandardCharsets.ISO_8859_1));
                            write(
                                    out,
                                    chunked(now)
                                            ? HttpWriter.chunk(ByteBufAllocator.DEFAULT, data.octets())
                                            : data.octets());
                        }
                        case End end -> {
                            if (chunked(now)) {
                                write(out, HttpWriter.lastChunk(ByteBufAllocator.DEFAULT, end.trailer()));
                            }
                            if (now != null) {
                                all.add(new Forwarded(
                                        now.judged().method(),
                                        now.judged().target(),
                                        now.canonicalAuthority(80),
                                        body.toString()));
                            }
                        }
                    }
                }
            }
        } catch (HttpFault fault) {
            assertTrue(fault.status() >= 400 && !fault.text().isEmpty());
        } finally {
            reader.close();
        }
        return all;
    }

    private static boolean chunked(@Nullable GuestRequest request) {
        return request != null && request.framing().is(Framing.Kind.CHUNKED);
    }

    private static void write(ByteBuf out, ByteBuf octets) {
        out.writeBytes(octets);
        octets.release();
    }

    private static List<Forwarded> readByNetty(ByteBuf octets) {
        var channel = new EmbeddedChannel(new HttpRequestDecoder(), new HttpObjectAggregator(1 << 20));
        var all = new ArrayList<Forwarded>();
        channel.writeInbound(octets);
        for (FullHttpRequest request = channel.readInbound(); request != null; request = channel.readInbound()) {
            assertTrue(request.decoderResult().isSuccess(), String.valueOf(request));
            all.add(new Forwarded(
                    request.method().name(),
                    request.uri(),
                    String.valueOf(request.headers().get("host")),
                    request.content().toString(StandardCharsets.ISO_8859_1)));
            request.release();
        }
        try {
            channel.finishAndReleaseAll();
        } catch (PrematureChannelClosureException _) {
            return all; // the last one was cut off where it was refused
        }
        return all;
    }

    @Test
    void anotherReaderFindsTheSameRequests() {
        RandomGenerator random = Seeded.random("http");
        int forwarded = 0;
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            byte[] octets = requests(random);
            ByteBuf out = Unpooled.buffer();
            List<Forwarded> ours = forward(octets, random, out);
            String text = out.toString(StandardCharsets.ISO_8859_1);
            assertEquals(ours, readByNetty(out), text);
            forwarded += ours.size();
            refused += ours.isEmpty() ? 1 : 0;
        }
        assertTrue(forwarded > ROUNDS && refused > ROUNDS / 20, forwarded + " forwarded, " + refused + " refused");
    }

    @Test
    void nothingIsReadBeforeItIsWhole() throws HttpFault {
        byte[] octets = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        var reader = new HttpReader(ByteBufAllocator.DEFAULT);
        for (int at = 0; at < octets.length; at++) {
            assertNull(reader.next());
            reader.add(Unpooled.copiedBuffer(octets, at, 1));
        }
        assertTrue(reader.next() instanceof Head);
        reader.close();
    }
}
