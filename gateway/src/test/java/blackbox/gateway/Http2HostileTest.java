package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.Http2Peer.Stream;
import blackbox.gateway.RawHttp2.Frame;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.stack.GuestNetwork;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest that breaks the rules of HTTP/2, or keeps to them and asks for too much.
class Http2HostileTest {
    private static final String[] POST = {
        ":method", "POST", ":scheme", "https", ":authority", Inspected.NAME, ":path", "/post"
    };

    @TempDir
    Path folder;

    private Inspected inspected() throws Exception {
        return new Inspected(folder, Inspection.REQUESTS);
    }

    private static Http2Peer server(Inspected it) throws Exception {
        return Http2Peer.server(it.server(it.certificates.server(Inspected.NAME)));
    }

    private static String[] with(String[] head, String... more) {
        String[] all = Arrays.copyOf(head, head.length + more.length);
        System.arraycopy(more, 0, all, head.length, more.length);
        return all;
    }

    /// A GET of which one field has another value.
    private static String[] but(String name, String value) {
        String[] head = {":method", "GET", ":scheme", "https", ":authority", Inspected.NAME, ":path", "/"};
        for (int at = 0; at < head.length; at += 2) {
            head[at + 1] = head[at].equals(name) ? value : head[at + 1];
        }
        return head;
    }

    private static String[] without(String name) {
        var head = new ArrayList<>(List.of(but("", "")));
        int at = head.indexOf(name);
        head.subList(at, at + 2).clear();
        return head.toArray(String[]::new);
    }

    @Test
    void headsThatTwoReadersCouldTakeForTwo() throws Exception {
        String[] get = but("", "");
        List<String[]> bad = List.of(
                without(":method"),
                without(":scheme"),
                without(":authority"),
                without(":path"),
                but(":method", "GET /x HTTP/1.1"),
                but(":method", ""),
                but(":method", "G\r\nET"),
                but(":scheme", "http"),
                but(":scheme", "HTTPS"),
                but(":path", ""),
                but(":path", "/a b"),
                but(":path", "/a\r\nx: y"),
                but(":path", "/ HTTP/1.1\r\nHost: else.example\r\n\r\nGET /"),
                but(":path", "/\u00e4"),
                but(":path", "/\t"),
                but(":authority", "user@ok.local"),
                but(":authority", "ok.local/"),
                but(":authority", "ok.local\r\nx: y"),
                but(":authority", "ok.local, else.example"),
                but(":authority", ""),
                with(get, ":path", "/other"),
                with(get, ":method", "POST"),
                with(get, ":authority", "else.example"),
                with(get, ":status", "200"),
                with(get, ":protocol", "websocket"),
                with(get, ":x", "y"),
                with(get, ":", "y"),
                with(get, "host", "else.example"),
                with(get, "host", "ok.local", "host", "ok.local2"),
                with(get, "connection", "close"),
                with(get, "connection", "x-hidden", "x-hidden", "y"),
                with(get, "keep-alive", "1"),
                with(get, "proxy-connection", "close"),
                with(get, "upgrade", "h2c"),
                with(get, "http2-settings", "AAMAAABk"),
                with(get, "transfer-encoding", "chunked"),
                with(get, "transfer-encoding", "identity"),
                with(get, "te", "gzip"),
                with(get, "te", "trailers, gzip"),
                with(get, "content-length", "5"),
                with(get, "content-length", "-0"),
                with(get, "content-length", "+0"),
                with(get, "content-length", "0x0"),
                with(get, "X-Upper", "y"),
                with(get, "x y", "z"),
                with(get, "x:y", "z"),
                with(get, "", "z"),
                with(get, "x\r\ny", "z"),
                with(get, "x", "y\r\ntransfer-encoding: chunked"),
                with(get, "x", "y\n"),
                with(get, "x", "y\u0000"),
                with(get, "x", " y"),
                with(get, "x", "y\t"));
        try (var it = inspected();
                var guest = Http2Peer.client(it.tls(Inspected.NAME));
                Http2Peer server = server(it)) {
            for (String[] head : bad) {
                Stream call = guest.request(true, head);
                if (List.of(head).contains("content-length")) { // the codec sees to that
                    assertEquals(Http2Error.PROTOCOL_ERROR, call.awaitReset());
                    continue;
                }
                call.awaitHead();
                assertTrue(call.head(0).startsWith(":status=400 "), () -> Arrays.toString(head) + call);
                assertTrue(call.awaitWhole().contains("\"error\":\"Blackbox egress gateway: the request is refused: "));
            }
            it.served.listener.await(
                    "not found",
                    listener -> listener.count(Finding.MALFORMED_HTTP) >= Integer.highestOneBit(bad.size()));
            assertEquals(List.of(), it.heads, "none of them was judged");
            assertFalse(server.hasStreams());
            Stream many = guest.request(true, with(get, many(513, "y")));
            assertTrue(many.awaitHead().startsWith(":status=431 "));
            Stream good = guest.get("/good");
            server.accept().head(true, ":status", "204");
            good.awaitWhole();
        }
    }

    private static String[] many(int fields, String value) {
        var all = new ArrayList<String>();
        for (int field = 0; field < fields; field++) {
            all.addAll(List.of("x", value));
        }
        return all.toArray(String[]::new);
    }

    @Test
    void bodiesOfAnotherLengthAndSecondHeads() throws Exception {
        try (var it = inspected();
                var guest = Http2Peer.client(it.tls(Inspected.NAME));
                Http2Peer server = server(it)) {
            for (String body : List.of("ab", "abcd", "")) {
                Stream call = guest.request(false, with(POST, "content-length", "3"));
                Stream served = server.accept();
                call.data(body, true);
                assertEquals(Http2Error.PROTOCOL_ERROR, call.awaitReset());
                assertEquals(Http2Error.CANCEL, served.awaitReset());
                assertFalse(served.isWhole(), "its length is that of another body");
            }
            Stream trailed = guest.request(false, with(POST, "content-length", "3"));
            Stream cut = server.accept();
            trailed.data("ab", false);
            trailed.head(true, "x", "y");
            assertEquals(Http2Error.PROTOCOL_ERROR, trailed.awaitReset());
            assertEquals(Http2Error.CANCEL, cut.awaitReset());
            Stream twice = guest.request(false, POST);
            Stream other = server.accept();
            guest.raw(RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, twice.frames.id(), RawHttp2.head(POST)));
            assertEquals(Http2Error.PROTOCOL_ERROR, twice.awaitReset());
            assertEquals(Http2Error.CANCEL, other.awaitReset());
            Stream pseudo = guest.request(false, POST);
            Stream third = server.accept();
            pseudo.head(true, ":path", "/other");
            assertTrue(pseudo.awaitHead().startsWith(":status=400 "));
            assertEquals(Http2Error.CANCEL, third.awaitReset());
            Stream lengths = guest.request(false, with(POST, "content-length", "3", "content-length", "4"));
            assertEquals(Http2Error.PROTOCOL_ERROR, lengths.awaitReset());
            assertFalse(server.hasStreams());
            assertTrue(it.exchanges(6).stream().allMatch(told -> told.how() == How.BROKEN_BY_GUEST));
        }
    }

    private RawHttp2 raw(Inspected it) throws Exception {
        return new RawHttp2(it.tls(Inspected.NAME));
    }

    /// The gateway says what it minds, and ends it; it has then nothing left of it.
    private static void assertEnded(Inspected it, RawHttp2 guest, Http2Error error) throws Exception {
        Frame away = guest.await(RawHttp2.GOAWAY);
        assertEquals(error, Http2Error.valueOf(away.code()));
        guest.awaitEnd();
        guest.close();
        it.served.listener.await("it has not ended", listener -> listener.ends().size() == 1);
        assertEquals(0L, it.served.onLoop(GuestNetwork::bufferedOctets));
        assertTrue(it.served.onLoop(GuestNetwork::mostBufferedOctets) < 1 << 20);
        assertTrue(it.served.listener.count(Finding.MALFORMED_HTTP) > 0);
    }

    @Test
    void requestsThatAreTakenBackAtOnce() throws Exception {
        try (var it = inspected();
                RawHttp2 guest = raw(it);
                Http2Peer server = server(it)) {
            var flood = new ByteArrayOutputStream();
            byte[] get = RawHttp2.get("/rapid");
            for (int stream = 1; stream < 2_000; stream += 2) {
                flood.write(RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, get));
                flood.write(RawHttp2.frame(RawHttp2.RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8}));
            }
            guest.flood(flood.toByteArray());
            assertEnded(it, guest, Http2Error.ENHANCE_YOUR_CALM);
            List<HttpExchange> told = it.served.listener.exchanges();
            assertTrue(told.size() <= 202, told.size() + " were judged");
            assertTrue(told.stream().allMatch(each -> each.how() == How.BROKEN_BY_GUEST));
            server.awaitEnd();
        }
    }

    @Test
    void moreStreamsThanAllowed() throws Exception {
        try (var it = inspected();
                RawHttp2 guest = raw(it);
                Http2Peer server = server(it)) {
            var flood = new ByteArrayOutputStream();
            for (int stream = 1; stream < 2_000; stream += 2) {
                flood.write(RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, stream, RawHttp2.head(POST)));
            }
            guest.flood(flood.toByteArray());
            Frame refused = guest.await(RawHttp2.RST_STREAM);
            assertEquals(Http2Error.REFUSED_STREAM, Http2Error.valueOf(refused.code()));
            assertEquals(201, refused.stream());
            assertTrue(it.served.listener.exchanges().isEmpty());
            guest.awaitEnd(); // so many refusals are a flood
            assertEquals(100, it.exchanges(100).size());
            server.awaitEnd();
        }
    }

    @Test
    void aHeadWithoutEnd() throws Exception {
        byte[] small = RawHttp2.frame(RawHttp2.CONTINUATION, 0, 1);
        byte[] large = RawHttp2.frame(RawHttp2.CONTINUATION, 0, 1, new byte[16 << 10]);
        for (byte[] each : List.of(small, large)) {
            try (var it = inspected();
                    RawHttp2 guest = raw(it);
                    Http2Peer server = server(it)) {
                guest.say(RawHttp2.frame(RawHttp2.HEADERS, 0, 1, RawHttp2.get("/")));
                var flood = new ByteArrayOutputStream();
                for (int count = 0; count < 1_000; count++) {
                    flood.write(each);
                }
                guest.flood(flood.toByteArray());
                guest.awaitEnd();
                it.served.listener.await("not found", listener -> listener.count(Finding.MALFORMED_HTTP) > 0);
                assertTrue(it.served.onLoop(GuestNetwork::mostBufferedOctets) < 256 << 10);
                assertEquals(List.of(), it.heads);
                server.awaitEnd();
            }
        }
    }

    /// Fields that refer to one that HPACK keeps, so that a small head becomes a large one.
    @Test
    void aHeadThatGrows() throws Exception {
        try (var it = inspected();
                RawHttp2 guest = raw(it);
                Http2Peer server = server(it)) {
            var head = new ByteArrayOutputStream();
            head.write(RawHttp2.get("/"));
            head.write(new byte[] {0x40, 1, 'x', 127, (byte) (3_873 & 127 | 128), 3_873 >> 7}); // of 4,000 octets
            head.write(new byte[4_000]);
            byte[] first = head.toByteArray();
            Arrays.fill(first, first.length - 4_000, first.length, (byte) 'y');
            var all = new ByteArrayOutputStream();
            all.write(first);
            for (int count = 0; count < 10_000; count++) {
                all.write(0x80 | 62);
            }
            guest.flood(
                    RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 1, all.toByteArray()));
            Frame refused = guest.await(RawHttp2.HEADERS);
            assertTrue(new String(refused.payload(), StandardCharsets.ISO_8859_1).contains("431"));
            assertEquals(List.of(), it.heads);
            assertFalse(server.hasStreams());
        }
    }

    /// A guest that makes the gateway answer, and takes no answers, is not read.
    @Test
    void questionsWhoseAnswersNobodyTakes() throws Exception {
        for (byte[] each : List.of(
                RawHttp2.frame(RawHttp2.PING, 0, 0, new byte[8]),
                RawHttp2.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 1, 0, 0}))) {
            try (var it = inspected();
                    RawHttp2 guest = raw(it);
                    Http2Peer server = server(it)) {
                var flood = new ByteArrayOutputStream();
                for (int count = 0; count < 100_000; count++) {
                    flood.write(each);
                }
                var flooding = Thread.ofVirtual().start(() -> guest.flood(flood.toByteArray()));
                guest.await(RawHttp2.SETTINGS);
                // The link's own queue holds what it holds; the gateway no more than its budget for one.
                long most = it.served.onLoop(GuestNetwork::mostBufferedOctets);
                assertTrue(most < 1 << 20, "it held " + most);
                guest.close();
                flooding.join();
                it.served.listener.await(
                        "it has not ended", listener -> listener.ends().size() == 1);
                assertEquals(0L, it.served.onLoop(GuestNetwork::bufferedOctets));
                server.awaitEnd();
            }
        }
    }

    @Test
    void framesThatBreakARule() throws Exception {
        byte[] get = RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 1, RawHttp2.get("/"));
        byte[] window = new byte[] {0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff};
        List<byte[]> bad = List.of(
                RawHttp2.frame(RawHttp2.DATA, 0, 0, (byte) 1),
                RawHttp2.frame(RawHttp2.DATA, 0, 3, (byte) 1),
                RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 2, RawHttp2.get("/")),
                RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 0, RawHttp2.get("/")),
                RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 3, (byte) 0xff, (byte) 0xff),
                RawHttp2.frame(RawHttp2.PUSH_PROMISE, RawHttp2.END_HEADERS, 1, new byte[] {0, 0, 0, 2}),
                RawHttp2.frame(RawHttp2.WINDOW_UPDATE, 0, 0, window),
                RawHttp2.frame(RawHttp2.WINDOW_UPDATE, 0, 0, new byte[4]),
                RawHttp2.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, (byte) 0x80, 0, 0, 0}),
                RawHttp2.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 2, 0, 0, 0, 2}),
                RawHttp2.frame(RawHttp2.SETTINGS, 0, 0, new byte[5]),
                RawHttp2.frame(RawHttp2.PING, 0, 0, new byte[7]),
                RawHttp2.frame(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 1, RawHttp2.get("/")),
                RawHttp2.frame(RawHttp2.PRIORITY, 0, 0, new byte[5]),
                RawHttp2.frame(RawHttp2.DATA, 0, 3, new byte[(16 << 10) + 1]),
                "GET / HTTP/1.1\r\nHost: ok.local\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        for (byte[] each : bad) {
            try (var it = inspected();
                    RawHttp2 guest = raw(it);
                    Http2Peer server = server(it)) {
                guest.say(get);
                server.accept();
                guest.flood(each);
                guest.await(RawHttp2.GOAWAY);
                guest.awaitEnd();
                assertEquals(How.BROKEN_BY_GUEST, it.exchanges(1).getFirst().how());
                assertTrue(it.served.listener.count(Finding.MALFORMED_HTTP) > 0);
                server.awaitEnd();
            }
        }
    }

    /// More than its windows allow, on one stream and on all; and nothing, often.
    @Test
    void dataBeyondItsWindows() throws Exception {
        byte[] piece = RawHttp2.frame(RawHttp2.DATA, 0, 1, new byte[16 << 10]);
        byte[] nothing = RawHttp2.frame(RawHttp2.DATA, 0, 1);
        for (byte[] each : List.of(piece, nothing)) {
            try (var it = inspected();
                    RawHttp2 guest = raw(it);
                    Http2Peer server = Http2Peer.server(
                            it.server(it.certificates.server(Inspected.NAME)),
                            new Http2Settings().initialWindowSize(0))) {
                server.take(false);
                guest.say(RawHttp2.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, RawHttp2.head(POST)));
                server.accept();
                for (int count = 0; count < 100; count++) {
                    guest.flood(each);
                }
                if (each.length > 100) {
                    Frame reset = guest.await(RawHttp2.RST_STREAM);
                    assertEquals(Http2Error.FLOW_CONTROL_ERROR, Http2Error.valueOf(reset.code()));
                } else {
                    assertEnded(it, guest, Http2Error.ENHANCE_YOUR_CALM);
                }
                long most = it.served.onLoop(GuestNetwork::mostBufferedOctets);
                assertTrue(most < 256 << 10, "it held " + most);
                assertEquals(How.BROKEN_BY_GUEST, it.exchanges(1).getFirst().how());
            }
        }
    }

    /// Heads of requests are kept until these are over: so they are not as many as streams.
    @Test
    void largeHeadsAtOnce() throws Exception {
        try (var it = inspected();
                var guest = Http2Peer.client(it.tls(Inspected.NAME));
                Http2Peer server = Http2Peer.server(
                        it.server(it.certificates.server(Inspected.NAME)),
                        new Http2Settings().maxHeaderListSize(64 << 10))) {
            String[] large = with(but("", ""), many(100, "y".repeat(500)));
            var calls = new ArrayList<Stream>();
            for (int each = 0; each < 9; each++) {
                calls.add(guest.request(true, large));
                server.accept();
            }
            Stream refused = guest.request(true, large);
            assertEquals(Http2Error.REFUSED_STREAM, refused.awaitReset());
            assertEquals(9, it.heads.size());
            calls.getFirst().reset(Http2Error.CANCEL);
            guest.request(true, large);
            server.accept();
            Stream trailed = guest.request(false, POST);
            server.accept();
            trailed.head(true, many(35, "y".repeat(500)));
            assertTrue(trailed.awaitHead().startsWith(":status=431 "));
        }
    }

    /// Each connection may hold something, so there are not as many as of others.
    @Test
    void moreConnectionsThanAllowed() throws Exception {
        try (var it = inspected()) {
            var guests = new ArrayList<Http2Peer>();
            for (int each = 0; each < 128; each++) {
                guests.add(Http2Peer.client(it.tls(Inspected.NAME)));
                Http2Peer server = server(it);
                guests.getLast().get("/");
                server.accept().head(true, ":status", "204");
            }
            var refused = it.tls(Inspected.NAME);
            Http2Peer.offer(refused, "h2");
            try (Http2Peer _ = server(it)) {
                assertThrows(IOException.class, refused::startHandshake);
            }
            assertEquals(1, it.served.listener.count(Finding.CONNECTIONS_REFUSED));
            guests.getFirst().close();
            it.served.listener.await(
                    "none has ended", listener -> listener.ends().size() == 2);
            guests.add(Http2Peer.client(it.tls(Inspected.NAME)));
            try (Http2Peer server = server(it)) {
                guests.getLast().get("/");
                server.accept();
            }
            for (Http2Peer guest : guests) {
                guest.close();
            }
        }
    }

    /// What needs no HTTP/2 is refused in it, and HTTP/2 that was not agreed on is none.
    @Test
    void prefacesWhereTheyDoNotBelong() throws Exception {
        try (var it = inspected()) {
            var plain = it.guest();
            it.server();
            Inspected.say(plain, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
            assertTrue(Inspected.all(plain).startsWith("HTTP/1.1 505 "));
            var tls = it.tls(Inspected.NAME);
            Http2Peer.offer(tls, "h2", "http/1.1");
            var server = it.server(it.certificates.server(Inspected.NAME));
            Http2Peer.offer(server, "h2", "http/1.1");
            var serving = Thread.ofVirtual().start(() -> {
                try {
                    server.startHandshake();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            Inspected.say(tls, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
            assertTrue(Inspected.head(tls).startsWith("HTTP/1.1 505 "));
            serving.join();
        }
    }

    /// Whoever opens HTTP/2 and says nothing holds the connection no longer than for a head.
    @Test
    void aSilentGuest() throws Exception {
        var settings = new InspectionSettings(Duration.ofSeconds(10), Duration.ofMillis(500));
        try (var it = new Inspected(
                folder,
                Inspection.REQUESTS,
                head -> {
                    throw new AssertionError();
                },
                settings)) {
            var tls = it.tls(Inspected.NAME);
            Http2Peer.offer(tls, "h2");
            try (Http2Peer server = server(it)) {
                tls.startHandshake();
                byte[] all = tls.getInputStream().readAllBytes();
                assertEquals(RawHttp2.SETTINGS, ByteBuffer.wrap(all).getInt() & 0xff);
                server.awaitEnd();
                assertEquals(1, it.served.listener.count(Finding.NOT_HTTP));
            }
        }
    }
}
