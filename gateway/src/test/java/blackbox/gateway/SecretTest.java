package blackbox.gateway;

import static blackbox.gateway.Inspected.all;
import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.SecretUse;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.secret.GuestSecret;
import blackbox.gateway.secret.SecretPlace;
import blackbox.gateway.secret.SecretValue;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.secret.Surrogates;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest that has surrogates only, and a server that is given values and says them again.
class SecretTest {
    private static final String VALUE = "sk-ant-api03-Zk9/QxVb7+Lr2Pw5T=";
    private static final String OTHER_VALUE = "sk-ant-api03-Zk9/QxVb7+Lr2Pw5T=-and-more%41";

    private static final String KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";

    @TempDir
    Path folder;

    private final String surrogate = surrogate(VALUE);
    private final String other = surrogate(OTHER_VALUE);

    private static SecretValue value(String text) {
        return new SecretValue(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String surrogate(String text) {
        return Surrogates.of(value(text), new SecureRandom());
    }

    /// The secret `key` goes with what is below `/v1`, `other` with what is below `/v2`.
    private Inspected inspected(@Nullable String place) throws Exception {
        return inspected(place, host -> host.equals(Inspected.NAME));
    }

    private Inspected inspected(@Nullable String place, Predicate<String> told) throws Exception {
        var secrets = Secrets.of(
                List.of(
                        new GuestSecret("key", surrogate, SecretPlace.parse(place), List.of("model"), value(VALUE)),
                        new GuestSecret("other", other, SecretPlace.parse(place), List.of("web"), value(OTHER_VALUE))),
                told);
        var settings = new InspectionSettings(Duration.ofSeconds(10), Duration.ofSeconds(30));
        return new Inspected(folder, Inspection.REQUESTS, SecretTest::judge, settings, secrets);
    }

    private static RequestVerdict judge(RequestHead head) {
        Verdict verdict = head.target().startsWith("/v1")
                ? Verdict.allow("model", "on the list").with("key")
                : head.target().startsWith("/v2")
                        ? Verdict.allow("web", "on the list").with("other")
                        : head.target().startsWith("/denied")
                                ? Verdict.deny("default", "no rule allows it")
                                : Verdict.allow("rest", "on the list");
        return new RequestVerdict(verdict, head.target(), 403);
    }

    private static String get(String target, String... fields) {
        return "GET " + target + " HTTP/1.1\r\nHost: ok.local\r\n"
                + String.join(
                        "",
                        List.of(fields).stream().map(field -> field + "\r\n").toList()) + "\r\n";
    }

    private static String basic(String pair) {
        return "Authorization: Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.US_ASCII));
    }

    static SecretUse use(Inspected it, SecretUse.How how) throws InterruptedException {
        it.served.listener.await(
                "no use " + how, listener -> listener.uses().stream().anyMatch(each -> each.how() == how));
        return it.served.listener.uses().stream()
                .filter(each -> each.how() == how)
                .findFirst()
                .orElseThrow();
    }

    private static String chunks(Socket guest) throws IOException {
        var body = new StringBuilder();
        while (true) {
            var line = new StringBuilder();
            while (!line.toString().endsWith("\r\n")) {
                line.append(octets(guest, 1));
            }
            int length = Integer.parseInt(line.toString().strip(), 16);
            if (length == 0) {
                return body.toString();
            }
            body.append(octets(guest, length));
            assertEquals("\r\n", octets(guest, 2));
        }
    }

    @Test
    void theServerGetsTheValueAndTheGuestTheSurrogate() throws Exception {
        try (var it = inspected("header:x-api-key")) {
            SSLSocket guest = it.tls(Inspected.NAME);
            SSLSocket server = it.server(it.certificates.server(Inspected.NAME));
            var handshake = CompletableFuture.runAsync(() -> {
                try {
                    server.startHandshake();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            say(guest, get("/v1/messages?q=1", "X-Api-Key: " + surrogate, "Range: bytes=0-9", "Accept-Encoding: gzip"));
            handshake.get();
            assertEquals(
                    "GET /v1/messages?q=1 HTTP/1.1\r\nHost: ok.local\r\nX-Api-Key: " + VALUE
                            + "\r\nAccept-Encoding: identity\r\n\r\n",
                    head(server));
            String body = "{\"key\":\"" + VALUE.replace("/", "\\/") + "\"}";
            say(
                    server,
                    "HTTP/1.1 103 Early\r\nLink: <" + VALUE + ">\r\n\r\nHTTP/1.1 401 Bad " + VALUE
                            + "\r\nAccept-Ranges: bytes\r\nX-Echo: "
                            + VALUE + "\r\nLocation: https://else.example/?key="
                            + URLEncoder.encode(VALUE, StandardCharsets.US_ASCII) + "\r\nContent-Length: "
                            + body.length() + "\r\n\r\n");
            for (int at = 0; at < body.length(); at++) {
                say(server, body.substring(at, at + 1)); // a record of TLS each
            }
            assertEquals("HTTP/1.1 103 Early\r\nLink: <" + surrogate + ">\r\n\r\n", head(guest));
            assertEquals(
                    "HTTP/1.1 401 Bad " + surrogate + "\r\nX-Echo: " + surrogate
                            + "\r\nLocation: https://else.example/?key=" + surrogate
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n",
                    head(guest));
            assertEquals("{\"key\":\"" + surrogate + "\"}", chunks(guest));
            octets(guest, 2);
            // Later answers are searched, whatever was asked, and come over a connection of their own.
            say(guest, get("/rest"));
            SSLSocket without = it.server(it.certificates.server(Inspected.NAME));
            assertTrue(head(without).contains("Accept-Encoding: identity"));
            say(
                    without,
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + VALUE.substring(0, 5) + "\r\n"
                            + Integer.toHexString(VALUE.length() - 5) + "\r\n" + VALUE.substring(5)
                            + "\r\n0\r\nX-Trailer: " + VALUE + "\r\n\r\n");
            head(guest);
            assertEquals(surrogate, chunks(guest));
            assertEquals("X-Trailer: " + surrogate + "\r\n\r\n", head(guest));

            List<HttpExchange> told = it.exchanges(2);
            assertEquals(surrogate.length() + 10, told.getFirst().response().octets());
            SecretUse put = use(it, SecretUse.How.PUT);
            assertEquals(
                    List.of("key", "model", "the header field x-api-key", 1L, 0L, "ok.local"),
                    List.of(
                            put.secret(),
                            String.valueOf(put.rule()),
                            put.place(),
                            put.count(),
                            put.exchange(),
                            String.valueOf(put.host())));
            assertEquals(5, use(it, SecretUse.How.REFLECTED).count());
            assertEquals(2, it.served.listener.count(Finding.SECRET_REFLECTED));
            assertFalse(it.served.listener.uses().toString().contains(VALUE));
        }
    }

    @Test
    void itIsPutInItsPlaceAndNoOther() throws Exception {
        assertPut(null, "Authorization: Bearer " + surrogate, "Authorization: Bearer " + VALUE, 1);
        assertPut(null, "authorization: bearer  " + surrogate, "authorization: bearer " + VALUE, 1);
        assertPut(null, "X-Goog-Api-Key: " + surrogate, "X-Goog-Api-Key: " + VALUE, 1);
        assertPut(
                "header:Authorization",
                "Authorization: token=" + surrogate + "; " + surrogate,
                "Authorization: token=" + VALUE + "; " + VALUE,
                2);
        assertPut("basic", basic(surrogate + ":"), basic(VALUE + ":"), 1);
        assertPut("basic", basic("x-access-token:" + surrogate), basic("x-access-token:" + VALUE), 1);
        assertStray(null, "Authorization: Basic " + surrogate, "the field authorization");
        assertStray(null, "Cookie: key=" + surrogate, "the field cookie");
        assertStray("header:x-api-key", "Authorization: Bearer " + surrogate, "the field authorization");
        assertStray("header:x-api-key", "X-Api-Key: " + other, "the field x-api-key");
        assertStray("header:x-api-key", basic("user:" + surrogate), "the field authorization");
        assertStray("header:x-api-key", "X-" + surrogate + ": 1", "the field x-" + surrogate);
        assertStray("basic", basic("user:" + other), "the field authorization");
        assertStray(null, "Proxy-Authorization: " + surrogate, "the field proxy-authorization");
        assertStray(null, "Connection: X-Mine\r\nX-Mine: " + surrogate, "the field x-mine");
        assertStray(null, "X-Quoted: " + surrogate.replace("-", "%252D"), "the field x-quoted");
        assertStray(
                null,
                "X-Hex: " + HexFormat.of().formatHex(surrogate.getBytes(StandardCharsets.US_ASCII)),
                "the field x-hex");
    }

    private void assertPut(@Nullable String place, String said, String heard, long count) throws Exception {
        try (var it = inspected(place)) {
            Socket guest = it.guest();
            say(guest, get("/v1/a", said));
            assertEquals(
                    "GET /v1/a HTTP/1.1\r\nHost: ok.local\r\n" + heard + "\r\nAccept-Encoding: identity\r\n\r\n",
                    head(it.server()));
            assertEquals(count, use(it, SecretUse.How.PUT).count());
            guest.close();
        }
    }

    private void assertStray(@Nullable String place, String said, String where) throws Exception {
        try (var it = inspected(place)) {
            assertRefused(it, get("/v1/a", said), where);
        }
    }

    private static void assertRefused(Inspected it, String request, String where) throws Exception {
        Socket guest = it.guest();
        say(guest, request);
        String answer = all(guest);
        assertTrue(answer.startsWith("HTTP/1.1 403 "), answer);
        assertTrue(answer.contains("stands in " + where + "; it is exchanged only under rule "), answer);
        assertEquals(How.REFUSED, it.exchanges(1).getFirst().how());
        assertEquals(1, it.served.listener.count(Finding.SECRET_ELSEWHERE));
        assertEquals(where, use(it, SecretUse.How.ELSEWHERE).place());
        assertEquals(-1, it.server().getInputStream().read(), "something left");
    }

    @Test
    void inTheQuery() throws Exception {
        try (var it = inspected("query:key")) {
            Socket guest = it.guest();
            say(guest, get("/v1/a?x=key&key=" + surrogate + "&y=%41"));
            Socket server = it.server();
            String encoded = URLEncoder.encode(VALUE, StandardCharsets.US_ASCII);
            assertEquals(
                    "GET /v1/a?x=key&key=" + encoded + "&y=%41 HTTP/1.1",
                    head(server).lines().findFirst().orElseThrow());
            say(
                    server,
                    "HTTP/1.1 404 Not Found\r\nContent-Length: " + (encoded.length() + 2) + "\r\n\r\n<" + encoded
                            + ">");
            head(guest);
            assertEquals("<" + surrogate + ">", chunks(guest));
            assertEquals(
                    "/v1/a?x=key&key=" + surrogate + "&y=%41",
                    it.exchanges(1).getFirst().target());
        }
        for (String target : List.of(
                "/v1/a?kez=" + surrogate,
                "/v1/" + surrogate + "?key=1",
                "/v1/a?key=" + surrogate + "&z=" + other,
                "/rest?key=" + surrogate,
                "/rest?key=" + surrogate.replace("-", "%2D"),
                "/denied/" + surrogate)) {
            try (var it = inspected("query:key")) {
                Socket guest = it.guest();
                say(guest, get(target));
                String answer = all(guest);
                assertTrue(answer.startsWith("HTTP/1.1 403 "), answer);
                assertEquals("the target", use(it, SecretUse.How.ELSEWHERE).place(), target);
            }
        }
    }

    @Test
    void inThePath() throws Exception {
        String encoded = URLEncoder.encode(VALUE, StandardCharsets.US_ASCII);
        try (var it = inspected("path")) {
            Socket guest = it.guest();
            say(guest, get("/v1/bot" + surrogate + "/sendMessage?x=%41"));
            Socket server = it.server();
            assertEquals(
                    "GET /v1/bot" + encoded + "/sendMessage?x=%41 HTTP/1.1",
                    head(server).lines().findFirst().orElseThrow());
            String body = "{\"error\":\"no bot " + VALUE + "\"}";
            say(
                    server,
                    "HTTP/1.1 301 Moved\r\nLocation: /v2/bot" + encoded + "/\r\nContent-Length: " + body.length()
                            + "\r\n\r\n" + body);
            String answer = head(guest);
            assertTrue(answer.contains("\r\nLocation: /v2/bot" + surrogate + "/\r\n"), answer);
            assertEquals("{\"error\":\"no bot " + surrogate + "\"}", chunks(guest));
            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals("/v1/bot" + surrogate + "/sendMessage?x=%41", told.target());
            assertEquals("the path", use(it, SecretUse.How.PUT).place());
        }
        for (String target : List.of(
                "/v1/a?key=" + surrogate,
                "/v1/" + other,
                "/v1/" + surrogate.replace("-", "%2D"),
                "/rest/" + surrogate,
                "/v1/" + surrogate + "?key=" + surrogate)) {
            try (var it = inspected("path")) {
                Socket guest = it.guest();
                say(guest, get(target));
                String answer = all(guest);
                assertTrue(answer.startsWith("HTTP/1.1 403 "), answer);
                assertEquals("the target", use(it, SecretUse.How.ELSEWHERE).place(), target);
                assertEquals(-1, it.server().getInputStream().read(), "something left");
            }
        }
    }

    @Test
    void withoutItTheRequestGoesAsItIsAndThatIsTold() throws Exception {
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(guest, get("/v1/a", "Authorization: Bearer mine"));
            Socket server = it.server();
            assertTrue(head(server).contains("\r\nAuthorization: Bearer mine\r\n"));
            say(server, "HTTP/1.1 401 Unauthorized\r\nContent-Length: " + VALUE.length() + "\r\n\r\n" + VALUE);
            head(guest);
            assertEquals(surrogate, chunks(guest), "what it was told before");
            SecretUse absent = use(it, SecretUse.How.ABSENT);
            assertEquals(0, absent.count());
            assertEquals("a header field, alone or after Bearer", absent.place());
        }
    }

    @Test
    void whatCannotBeSearchedIsRefused() throws Exception {
        var zipped = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(zipped)) {
            out.write(VALUE.getBytes(StandardCharsets.US_ASCII));
        }
        String body = zipped.toString(StandardCharsets.ISO_8859_1);
        for (String answer : List.of(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + body.length() + "\r\n\r\n" + body,
                "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\n\r\nsk-")) {
            try (var it = inspected(null)) {
                Socket guest = it.guest();
                say(guest, get("/v1/a", "Authorization: Bearer " + surrogate));
                Socket server = it.server();
                head(server);
                say(server, answer);
                String got = all(guest);
                assertTrue(got.startsWith("HTTP/1.1 502 "), got);
                assertTrue(got.contains("cannot be searched for secrets"), got);
                assertEquals(How.BROKEN_BY_UPSTREAM, it.exchanges(1).getFirst().how());
            }
        }
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(
                    guest,
                    get(
                            "/v1/live",
                            "Authorization: Bearer " + surrogate,
                            "Connection: Upgrade",
                            "Upgrade: websocket",
                            KEY,
                            "Sec-WebSocket-Version: 13"));
            String got = all(guest);
            assertTrue(got.startsWith("HTTP/1.1 403 ") && got.contains("WebSocket"), got);
        }
    }

    /// What it is told over one connection, a host may say over another, on which it has been asked before.
    @Test
    void whateverAHostSaysThatIsToldASecretIsSearched() throws Exception {
        try (var it = inspected(null)) {
            Socket listening = it.guest();
            say(listening, get("/rest", "Accept-Encoding: gzip"));
            Socket server = it.server();
            assertTrue(head(server).contains("Accept-Encoding: identity"));
            say(server, "HTTP/1.1 200 OK\r\nContent-Length: " + VALUE.length() + "\r\n\r\n");
            head(listening);
            Socket guest = it.guest();
            say(guest, get("/v1/a", "Authorization: Bearer " + surrogate));
            head(it.server());
            say(server, VALUE);
            assertEquals(surrogate, chunks(listening));
            Socket third = it.guest();
            say(third, get("/rest", "Connection: Upgrade", "Upgrade: websocket", KEY, "Sec-WebSocket-Version: 13"));
            String got = all(third);
            assertTrue(got.startsWith("HTTP/1.1 403 ") && got.contains("WebSocket"), got);
        }
    }

    @Test
    void aHostThatIsToldNoneIsLeftAlone() throws Exception {
        try (var it = inspected(null, host -> false)) {
            Socket guest = it.guest();
            say(guest, get("/rest", "Accept-Encoding: gzip", "Range: bytes=1-2"));
            Socket server = it.server();
            String head = head(server);
            assertTrue(head.contains("Accept-Encoding: gzip") && head.contains("Range: bytes=1-2"), head);
            say(server, "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx");
            assertTrue(head(guest).contains("Content-Length: 2"));
            assertEquals("xx", octets(guest, 2));
            assertEquals(List.of(), it.served.listener.uses());
        }
    }

    @Test
    void olderVersionsOnEitherSide() throws Exception {
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(guest, "GET /v1/a HTTP/1.0\r\nHost: ok.local\r\nAuthorization: Bearer " + surrogate + "\r\n\r\n");
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.0 200 OK\r\n\r\nit is " + VALUE);
            server.close();
            assertEquals("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nit is " + surrogate, all(guest));
        }
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(guest, get("/v1/a", "Authorization: Bearer " + surrogate).replace("GET", "HEAD"));
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 77\r\n\r\n");
            assertEquals("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 77\r\n\r\n", head(guest));
        }
    }

    @Test
    void eventsAreNotHeldBack() throws Exception {
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(guest, get("/v1/a", "Authorization: Bearer " + surrogate));
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
            head(guest);
            for (int round = 0; round < 3; round++) {
                say(server, "9\r\ndata: a\n\n\r\n");
                assertEquals(
                        "9\r\ndata: a\n\n\r\n", octets(guest, 14), "the server says nothing more until it is there");
            }
            String half = VALUE.substring(0, 9);
            say(server, "f\r\ndata: " + half + "\r\n");
            assertEquals("6\r\ndata: \r\n", octets(guest, 11));
            say(server, Integer.toHexString(VALUE.length() - 9) + "\r\n" + VALUE.substring(9) + "\r\n0\r\n\r\n");
            assertEquals(surrogate, chunks(guest));
        }
    }

    @Test
    void ofTwoThatBeginAlikeEachGoesItsOwnWay() throws Exception {
        try (var it = inspected(null)) {
            Socket guest = it.guest();
            say(guest, get("/v2/a", "Authorization: Bearer " + other));
            Socket server = it.server();
            assertTrue(head(server).contains("\r\nAuthorization: Bearer " + OTHER_VALUE + "\r\n"));
            say(
                    server,
                    "HTTP/1.1 200 OK\r\nContent-Length: " + (VALUE.length() + OTHER_VALUE.length() + 1) + "\r\n\r\n"
                            + VALUE + " " + OTHER_VALUE);
            head(guest);
            assertEquals(surrogate + " " + other, chunks(guest));
        }
    }

    /// In a call of gRPC, whose messages may not be compressed.
    @Test
    void inHttp2TheServerGetsTheValueAndTheGuestTheSurrogate() throws Exception {
        try (var it = inspected("header:authorization");
                var guest = Http2Peer.client(it.tls(Inspected.NAME));
                var server = Http2Peer.server(it.server(it.certificates.server(Inspected.NAME)))) {
            String[] head = {
                ":method",
                "POST",
                ":scheme",
                "https",
                ":authority",
                Inspected.NAME,
                ":path",
                "/v1/Call",
                "te",
                "trailers",
                "authorization",
                "Bearer " + surrogate,
                "grpc-accept-encoding",
                "gzip",
                "accept-encoding",
                "gzip",
                "range",
                "bytes=0-9"
            };
            for (int round = 0; round < 2; round++) { // nothing is kept by HPACK that was cleared since
                Http2Peer.Stream call = guest.request(false, head);
                call.data("asks", true);
                Http2Peer.Stream served = server.accept();
                assertEquals("asks", served.awaitWhole());
                assertEquals(
                        ":method=POST :scheme=https :authority=ok.local :path=/v1/Call authorization=Bearer " + VALUE
                                + " accept-encoding=identity te=trailers",
                        served.head(0));
                String body = "{\"key\":\"" + VALUE + "\"} and " + VALUE;
                served.head(false, ":status", "200", "x-echo", VALUE, "content-length", "" + body.length());
                for (int at = 0; at < body.length(); at++) {
                    served.data(body.substring(at, at + 1), false);
                }
                served.head(true, "grpc-message", "bad key " + VALUE);
                assertEquals("{\"key\":\"" + surrogate + "\"} and " + surrogate, call.awaitWhole());
                assertEquals(":status=200 x-echo=" + surrogate, call.head(0));
                assertEquals("grpc-message=bad key " + surrogate, call.head(1));
            }
            Http2Peer.Stream compressed = guest.request(true, head);
            server.accept().head(false, ":status", "200", "grpc-encoding", "gzip");
            assertTrue(compressed.awaitWhole().contains("compressed, which was not asked for"));
            head[7] = "/rest";
            Http2Peer.Stream stray = guest.request(true, head);
            assertTrue(stray.awaitWhole().contains("stands in the field authorization"), stray::toString);
            assertFalse(server.hasStreams());
            assertEquals(1, use(it, SecretUse.How.PUT).count());
            assertEquals(4, use(it, SecretUse.How.REFLECTED).count());
            assertEquals(1, it.served.listener.count(Finding.SECRET_ELSEWHERE));
            assertFalse(it.served.listener.plaintexts().toString().contains(VALUE));
        }
    }
}
