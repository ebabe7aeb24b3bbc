package blackbox.gateway;

import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.Http2Peer.Stream;
import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestNetwork;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// HTTP/2 through the gateway; guest and server are Netty's codec on the JDK's TLS.
class Http2Test {
    private static final String[] GRPC = {
        ":method",
        "POST",
        ":scheme",
        "https",
        ":authority",
        Inspected.NAME,
        ":path",
        "/echo.Echo/Talk",
        "content-type",
        "application/grpc",
        "te",
        "trailers",
        "grpc-accept-encoding",
        "gzip",
        "user-agent",
        "test"
    };

    @TempDir
    Path folder;

    private Inspected inspected() throws Exception {
        return new Inspected(folder, Inspection.REQUESTS);
    }

    static Http2Peer guest(Inspected it) throws Exception {
        return Http2Peer.client(it.tls(Inspected.NAME));
    }

    static Http2Peer server(Inspected it) throws Exception {
        return Http2Peer.server(it.server(it.certificates.server(Inspected.NAME)));
    }

    private static String sha256(String text) throws Exception {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(octets));
    }

    @Test
    void whoCanSpeakHttp1GetsIt() throws Exception {
        try (var it = inspected()) {
            SSLSocket guest = it.tls(Inspected.NAME);
            Http2Peer.offer(guest, "h2", "http/1.1");
            SSLSocket server = it.server(it.certificates.server(Inspected.NAME));
            Http2Peer.offer(server, "h2", "http/1.1");
            var serving = CompletableFuture.runAsync(() -> {
                try {
                    head(server);
                    say(server, "HTTP/1.1 204 No Content\r\n\r\n");
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            say(guest, "GET /both HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            assertTrue(head(guest).startsWith("HTTP/1.1 204"));
            serving.get();
            assertEquals("http/1.1", guest.getApplicationProtocol());
            assertEquals("http/1.1", server.getApplicationProtocol());
            assertEquals("http/1.1", it.exchanges(1).getFirst().protocol());
        }
    }

    @Test
    void whoNeedsHttp2AndMeetsOneWithoutIsTold() throws Exception {
        for (String[] spoken : new String[][] {{}, {"http/1.1"}}) {
            try (var it = inspected()) {
                SSLSocket guest = it.tls(Inspected.NAME);
                Http2Peer.offer(guest, "h2");
                SSLSocket server = it.server(it.certificates.server(Inspected.NAME));
                Http2Peer.offer(server, spoken);
                var serving = CompletableFuture.runAsync(() -> {
                    try {
                        server.startHandshake();
                        assertEquals(-1, server.getInputStream().read());
                    } catch (IOException _) {
                        return; // it refuses by itself, or is left
                    }
                });
                var failure = assertThrows(SSLException.class, guest::startHandshake);
                assertTrue(
                        String.valueOf(failure.getMessage()).contains("no_application_protocol"), failure.getMessage());
                serving.get();
                it.served.listener.await("not found", listener -> listener.count(Finding.UPSTREAM_TLS) == 1);
                assertEquals(0, it.served.listener.count(Finding.GUEST_DOES_NOT_TRUST));
            }
        }
    }

    @Test
    void aCallOfGrpcWithItsTrailers() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream call = guest.request(false, GRPC);
            Stream served = server.accept();
            assertEquals(
                    ":method=POST :scheme=https :authority=ok.local :path=/echo.Echo/Talk content-type=application/grpc"
                            + " grpc-accept-encoding=gzip user-agent=test accept-encoding=identity te=trailers",
                    served.awaitHead());
            served.head(false, ":status", "200", "content-type", "application/grpc", "alt-svc", "h3=\":443\"");
            assertEquals(":status=200 content-type=application/grpc", call.awaitHead());
            for (int round = 1; round <= 3; round++) { // each message is answered before the next is sent
                call.data("ping" + round, false);
                assertTrue(served.awaitBody(round * 5).endsWith("ping" + round));
                served.data("pong" + round, false);
                assertTrue(call.awaitBody(round * 5).endsWith("pong" + round));
            }
            call.head(true, "x-checksum", "7", "host", "else.example");
            served.awaitWhole();
            assertEquals("x-checksum=7", served.head(1));
            served.head(true, "grpc-status", "0", "grpc-message", "done");
            call.awaitWhole();
            assertEquals("grpc-status=0 grpc-message=done", call.head(1));

            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals("h2", told.protocol());
            assertEquals("https", told.scheme());
            assertEquals(How.ANSWERED, told.how());
            assertEquals(sha256("ping1ping2ping3"), told.request().sha256());
            assertEquals(sha256("pong1pong2pong3"), told.response().sha256());
            assertEquals("/echo.Echo/Talk", it.heads.getFirst().target());
            assertTrue(it.heads.getFirst().mediaTypes().contains("application/grpc"));
            Decision decision = it.served.listener.decisions().getLast();
            assertEquals("POST ok.local /echo.Echo/Talk", decision.what());
            String plain = it.served.listener.plaintexts().getFirst();
            assertTrue(plain.contains(">PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), plain);
            assertTrue(plain.contains("pong3"), plain);
        }
    }

    @Test
    void aHundredAtOnceWithBodiesBothWays() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            String body = "0123456789abcdef".repeat(750);
            var echo = CompletableFuture.runAsync(() -> {
                try {
                    for (int each = 0; each < 100; each++) {
                        Stream served = server.accept();
                        Thread.startVirtualThread(() -> echo(served));
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            var calls = new ArrayList<Stream>();
            for (int each = 0; each < 100; each++) {
                Stream call = guest.request(
                        false,
                        ":method",
                        "PUT",
                        ":scheme",
                        "https",
                        ":authority",
                        "OK.local:" + it.served.port(),
                        ":path",
                        "/" + each,
                        "content-length",
                        String.valueOf(body.length()));
                call.data(body, true);
                calls.add(call);
            }
            echo.get();
            for (Stream call : calls) {
                assertEquals(body, call.awaitWhole());
            }
            List<HttpExchange> told = it.exchanges(100);
            String digest = sha256(body);
            assertTrue(told.stream().allMatch(each -> each.response().sha256().equals(digest)));
            assertEquals(100, told.stream().map(HttpExchange::number).distinct().count());
            guest.close();
            it.served.listener.await(
                    "it has not ended", listener -> listener.ends().size() == 1);
            assertEquals(0L, it.served.onLoop(GuestNetwork::bufferedOctets));
        }
    }

    private static void echo(Stream served) {
        try {
            String body = served.awaitWhole();
            served.head(false, ":status", "200", "content-length", String.valueOf(body.length()));
            served.data(body, true);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatIsRefusedIsReadableAndTheOthersGoOn() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream going = guest.get("/on");
            Stream served = server.accept();
            Stream denied = guest.get("/denied?x");
            assertEquals(
                    "{\"error\":\"Blackbox egress gateway: a \\\"path\\\" of no good\",\"rule\":\"deny[0]\",\"status\":403}\n",
                    denied.awaitWhole());
            assertTrue(denied.head(0).startsWith(":status=403 content-type=application/json cache-control=no-store"));
            Stream upload = guest.request(
                    false, ":method", "POST", ":scheme", "https", ":authority", "ok.local", ":path", "/elsewhere");
            upload.data("half of it", false);
            assertTrue(upload.awaitWhole().contains("\"rule\":\"builtin:misdirected\",\"status\":421"));
            assertEquals(Http2Error.NO_ERROR, upload.awaitReset());
            Stream head = guest.request(
                    true, ":method", "HEAD", ":scheme", "https", ":authority", "ok.local", ":path", "/denied");
            assertEquals("", head.awaitWhole());
            Stream star = guest.request(
                    true, ":method", "OPTIONS", ":scheme", "https", ":authority", "ok.local", ":path", "*");
            assertTrue(server.accept().awaitHead().contains(":path=*"));
            served.head(true, ":status", "204");
            going.awaitWhole();
            assertEquals(":status=204", going.head(0));
            star.reset(Http2Error.CANCEL);
            assertFalse(server.hasStreams());
            List<HttpExchange> told = it.exchanges(5);
            assertEquals(
                    List.of(How.REFUSED, How.REFUSED, How.REFUSED, How.ANSWERED, How.BROKEN_BY_GUEST),
                    told.stream().map(HttpExchange::how).toList());
        }
    }

    /// What would have to be counted, held back or read is refused, and the others go on.
    @Test
    void nothingGoesAroundAPassage() throws Exception {
        var asked = new AtomicInteger();
        Passage counted = new Passage() {
            @Override
            public @Nullable Ruling begins() {
                asked.incrementAndGet();
                return null;
            }
        };
        try (var it = new Inspected(
                        folder,
                        Inspection.REQUESTS,
                        head -> new RequestVerdict(
                                Verdict.allow("few", "rule few allows it"),
                                head.target(),
                                403,
                                head.target().equals("/free") ? Passage.FREE : counted));
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            String reason =
                    "rule few allows it, but budgets, tools of MCP servers and secrets in bodies go over HTTP/1.1 only";
            assertTrue(guest.get("/counted").awaitWhole().contains(reason));
            Stream upload = guest.request(
                    false, ":method", "POST", ":scheme", "https", ":authority", "ok.local", ":path", "/counted");
            upload.data("half of it", false);
            assertTrue(upload.awaitWhole().endsWith("\"rule\":null,\"status\":403}\n"));
            Stream free = guest.get("/free");
            Stream served = server.accept();
            assertTrue(served.awaitHead().contains(":path=/free"), "nothing else has come");
            served.head(true, ":status", "204");
            free.awaitWhole();
            assertFalse(server.hasStreams());
            assertEquals(0, asked.get());
            assertEquals(
                    List.of(How.REFUSED, How.REFUSED, How.ANSWERED),
                    it.exchanges(3).stream().map(HttpExchange::how).toList());
            assertEquals(
                    2,
                    it.served.listener.decisions().stream()
                            .filter(each -> each.rule() == null && each.reason().startsWith(reason))
                            .count());
        }
    }

    @Test
    void interimAnswersAndWaitingForThem() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream call = guest.request(
                    false,
                    ":method",
                    "POST",
                    ":scheme",
                    "https",
                    ":authority",
                    "ok.local",
                    ":path",
                    "/",
                    "expect",
                    "100-continue",
                    "content-length",
                    "4");
            assertEquals(":status=100", call.awaitHead());
            call.data("body", true);
            Stream served = server.accept();
            assertEquals("body", served.awaitWhole());
            assertTrue(served.head(0).endsWith("accept-encoding=identity content-length=4"), served.head(0));
            served.head(false, ":status", "100");
            served.head(false, ":status", "103", "link", "<a>");
            served.head(false, ":status", "200", "content-length", "2");
            served.data("ok", true);
            assertEquals("ok", call.awaitWhole());
            assertEquals(":status=103 link=<a>", call.head(1));
            assertEquals(":status=200 content-length=2", call.head(2));
        }
    }

    @Test
    void whoeverLeavesItIsHeardOnTheOtherSide() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream cancelled = guest.get("/cancelled");
            Stream served = server.accept();
            cancelled.reset(Http2Error.CANCEL);
            assertEquals(Http2Error.CANCEL, served.awaitReset());
            Stream call = guest.get("/reset");
            server.accept().reset(Http2Error.ENHANCE_YOUR_CALM);
            assertEquals(Http2Error.ENHANCE_YOUR_CALM, call.awaitReset());
            Stream odd = guest.get("/odd");
            int id = server.accept().frames.id();
            server.raw(RawHttp2.frame(RawHttp2.RST_STREAM, 0, id, new byte[] {0, 0, 0, 99}));
            assertEquals(Http2Error.INTERNAL_ERROR, odd.awaitReset());
            Stream cut = guest.get("/cut");
            Stream half = server.accept();
            half.head(false, ":status", "200");
            half.data("half", false);
            cut.awaitBody(4);
            half.reset(Http2Error.NO_ERROR);
            assertEquals(Http2Error.INTERNAL_ERROR, cut.awaitReset(), "it would be taken for whole");
            Stream early = guest.request(
                    false, ":method", "POST", ":scheme", "https", ":authority", "ok.local", ":path", "/early");
            Stream answered = server.accept();
            answered.head(false, ":status", "200");
            answered.data("enough", true);
            assertEquals("enough", early.awaitWhole());
            assertEquals(Http2Error.NO_ERROR, early.awaitReset());
            assertEquals(
                    List.of(
                            How.BROKEN_BY_GUEST,
                            How.BROKEN_BY_UPSTREAM,
                            How.BROKEN_BY_UPSTREAM,
                            How.BROKEN_BY_UPSTREAM,
                            How.ANSWERED),
                    it.exchanges(5).stream().map(HttpExchange::how).toList());
        }
    }

    @Test
    void theOtherSideTakesNoMore() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream going = guest.get("/going");
            Stream served = server.accept();
            server.goAway();
            assertEquals(Http2Error.NO_ERROR, guest.awaitGoAway());
            served.head(false, ":status", "200");
            served.data("to its end", true);
            assertEquals("to its end", going.awaitWhole());
            guest.awaitEnd();
        }
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream unanswered = guest.get("/unanswered");
            Stream begun = guest.get("/begun");
            Stream one = server.accept(); // they are judged side by side
            Stream other = server.accept();
            Stream answered = one.awaitHead().contains(":path=/begun") ? one : other;
            answered.head(false, ":status", "200");
            begun.awaitHead();
            server.close();
            assertTrue(unanswered.awaitWhole().contains("broke off: it closed the connection"));
            assertEquals(Http2Error.INTERNAL_ERROR, begun.awaitReset());
            guest.awaitEnd();
            assertTrue(it.exchanges(2).stream().allMatch(told -> told.how() == How.BROKEN_BY_UPSTREAM));
        }
    }

    /// Each answer breaks a rule; the guest hears 502, or a reset if it has had a part.
    @Test
    void answersThatAreNoHttp2() throws Exception {
        List<String[]> heads = List.of(
                new String[] {"x", "y"},
                new String[] {":status", "101"},
                new String[] {":status", "99"},
                new String[] {":status", "2000"},
                new String[] {":status", "200", ":status", "204"},
                new String[] {":status", "200", ":path", "/"},
                new String[] {":status", "200", "connection", "close"},
                new String[] {":status", "200", "transfer-encoding", "chunked"},
                new String[] {":status", "200", "X-Upper", "y"},
                new String[] {":status", "200", "x", "a\r\nset-cookie: b"},
                new String[] {":status", "200", "x", "a\u0000"},
                new String[] {":status", "200", "content-length", "3"},
                new String[] {":status", "200", "content-length", "0", "content-length", "1"});
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            for (String[] each : heads) {
                Stream call = guest.get("/");
                server.accept().head(true, each);
                assertTrue(call.awaitWhole().contains("broke off"), () -> String.join(" ", each) + call);
                assertTrue(call.head(0).startsWith(":status=502"), call::toString);
            }
            Stream call = guest.get("/");
            server.accept().data("no head", false);
            assertTrue(call.awaitWhole().contains("broke off"), call::toString);
            for (int wrong : new int[] {0, 2, 4}) {
                Stream counted = guest.get("/");
                Stream served = server.accept();
                served.head(false, ":status", "200", "content-length", "3");
                counted.awaitHead();
                served.data("abcd".substring(0, wrong), true);
                assertEquals(Http2Error.INTERNAL_ERROR, counted.awaitReset());
            }
            Stream headed = guest.get("/");
            Stream twice = server.accept();
            twice.head(false, ":status", "200");
            server.raw(RawHttp2.frame(
                    RawHttp2.HEADERS, RawHttp2.END_HEADERS, twice.frames.id(), RawHttp2.head(":status", "200")));
            assertEquals(Http2Error.INTERNAL_ERROR, headed.awaitReset());
            assertEquals(0, it.served.listener.count(Finding.MALFORMED_HTTP), "the guest did nothing");
            it.exchanges(heads.size() + 5);
        }
    }

    /// But for a stream's window; its other streams go on.
    @Test
    void whatASlowReaderDoesNotTakeIsNotFetched() throws Exception {
        try (var it = inspected();
                Http2Peer guest =
                        Http2Peer.client(it.tls(Inspected.NAME), new Http2Settings().initialWindowSize(1_000));
                Http2Peer server = server(it)) {
            guest.take(false);
            Stream call = guest.get("/much");
            Stream served = server.accept();
            served.head(false, ":status", "200");
            int length = 2 << 20;
            served.data(new byte[length], true);
            call.awaitBody(1_000);
            Stream other = guest.get("/other");
            Stream alive = server.accept();
            alive.head(false, ":status", "200");
            alive.data("alive", true);
            assertEquals("alive", other.awaitWhole());
            assertEquals(1_000, call.length());
            assertTrue(server.sentOctets() <= 140 << 10, "it fetched " + server.sentOctets());
            guest.take(true);
            assertEquals(length, call.awaitWhole().length());
        }
    }

    /// A server that takes nothing stops its guest.
    @Test
    void aSlowServerHoldsTheGuestBack() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = Http2Peer.server(
                        it.server(it.certificates.server(Inspected.NAME)),
                        new Http2Settings().initialWindowSize(1_000))) {
            server.take(false);
            Stream call =
                    guest.request(false, ":method", "POST", ":scheme", "https", ":authority", "ok.local", ":path", "/");
            int length = 2 << 20;
            call.data(new byte[length], true);
            Stream served = server.accept();
            served.awaitBody(1_000);
            Stream other = guest.get("/other");
            Stream alive = server.accept();
            alive.head(true, ":status", "204");
            other.awaitWhole();
            assertTrue(guest.sentOctets() <= 80 << 10, "it took " + guest.sentOctets());
            server.take(true);
            assertEquals(length, served.awaitWhole().length());
            served.head(true, ":status", "204");
            call.awaitWhole();
            assertNull(it.served.listener.exchanges().stream()
                    .filter(told -> told.how() != How.ANSWERED)
                    .findAny()
                    .orElse(null));
        }
    }
}
