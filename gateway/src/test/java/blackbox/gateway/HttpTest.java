package blackbox.gateway;

import static blackbox.gateway.Inspected.all;
import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.stack.GuestNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Requests in the clear: what is forwarded, what is answered, and what is told of them.
class HttpTest {
    @TempDir
    Path folder;

    private static String sha256(String text) throws Exception {
        byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(octets));
    }

    /// Lines and an empty one.
    private static String lines(String... lines) {
        return String.join("\r\n", lines) + "\r\n\r\n";
    }

    private static String get(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: ok.local\r\n\r\n";
    }

    @Test
    void requestsAreWrittenAnewAndJudgedOneByOne() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(
                    guest,
                    lines(
                                    "POST /a?b=1 HTTP/1.1",
                                    "hOSt:OK.local:80",
                                    "Connection: keep-alive, X-Hop",
                                    "X-Hop: 1",
                                    "Keep-Alive: 5",
                                    "Proxy-Authorization: x",
                                    "Accept: text/html;q=1, */*",
                                    "Accept-Encoding: br, gzip;q=0.5, deflate, zstd",
                                    "Upgrade: h2c",
                                    "X-Own:  two  words \t",
                                    "Content-Type: text/plain; charset=x",
                                    "content-length: 5")
                            + "hello" + get("/next"));
            Socket server = it.server();
            assertEquals(
                    lines(
                            "POST /a?b=1 HTTP/1.1",
                            "Host: ok.local",
                            "Accept: text/html;q=1, */*",
                            "X-Own: two  words",
                            "Content-Type: text/plain; charset=x",
                            "Accept-Encoding: gzip;q=0.5, zstd",
                            "Content-Length: 5"),
                    head(server));
            assertEquals("hello", octets(server, 5));
            assertEquals(1, it.heads.size(), "the next one is not read before the answer");
            say(
                    server,
                    "HTTP/1.1 200 Fine\r\nAlt-Svc: h3=\":443\"\r\nConnection: X-Y\r\nX-Y: 1\r\nSet-Cookie: a\r\n"
                            + "Set-Cookie: b\r\nContent-Length: 3\r\n\r\nyes");
            assertEquals(
                    "HTTP/1.1 200 Fine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 3\r\n\r\n", head(guest));
            assertEquals("yes", octets(guest, 3));
            assertEquals(
                    "GET /next HTTP/1.1\r\nHost: ok.local\r\nAccept-Encoding: identity\r\n\r\n",
                    head(server),
                    "on the same connection");
            say(server, "HTTP/1.1 204 No Content\r\n\r\n");
            assertEquals("HTTP/1.1 204 No Content\r\n\r\n", head(guest));
            List<HttpExchange> told = it.exchanges(2);
            HttpExchange first = told.getFirst();
            assertEquals("/a?b=1", first.target());
            assertEquals(0, first.number());
            assertEquals(1, told.getLast().number());
            assertEquals("http", first.rule());
            assertEquals("http", first.scheme());
            assertEquals("ok.local", first.host());
            assertEquals(200, first.status());
            assertEquals(How.ANSWERED, first.how());
            assertEquals(new HttpExchange.Body(5, sha256("hello")), first.request());
            assertEquals(new HttpExchange.Body(3, sha256("yes")), first.response());
            assertNotNull(first.firstOctet());
            assertEquals("OK.local:80", it.heads.getFirst().authority());
            assertEquals(
                    Set.of("text/html", "*/*", "text/plain"),
                    it.heads.getFirst().mediaTypes());
            Decision decision = it.served.listener.decisions().stream()
                    .filter(known -> known.stage() == Stage.HTTP)
                    .findFirst()
                    .orElseThrow();
            assertEquals("POST OK.local:80 /a?b=1", decision.what());
            guest.close();
            it.served.listener.await(
                    "it has not ended", listener -> listener.ends().size() == 1);
            assertEquals(-1, server.getInputStream().read());
            long held = it.served.onLoop(GuestNetwork::bufferedOctets);
            assertEquals(0, held);
        }
    }

    @Test
    void bodiesInChunksWithTrailers() throws Exception {
        try (var it = new Inspected(folder, Inspection.OPEN)) {
            Socket guest = it.guest();
            say(
                    guest,
                    lines("POST / HTTP/1.1", "Host: ok.local", "Transfer-Encoding: Chunked", "TE: trailers")
                            + lines("003", "abc", "1", "d", "0", "X-Sum: 4", "Content-Length: 9"));
            Socket server = it.server();
            String head = head(server);
            assertTrue(head.contains("\r\nTransfer-Encoding: chunked\r\n"), head);
            assertTrue(head.contains("\r\nTE: trailers\r\nConnection: TE\r\n"), head);
            assertEquals("3\r\nabc\r\n1\r\nd\r\n0\r\nX-Sum: 4\r\n\r\n", octets(server, 29));
            say(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\ngrpc-status: 0\r\n\r\n");
            assertEquals("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head(guest));
            assertEquals("2\r\nok\r\n0\r\ngrpc-status: 0\r\n\r\n", octets(guest, 28));
            assertEquals(4, it.exchanges(1).getFirst().request().octets());
        }
    }

    @Test
    void eventsArriveOneByOne() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(guest, get("/events"));
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
            assertTrue(head(guest).contains("Transfer-Encoding: chunked"));
            for (int at = 0; at < 20; at++) {
                String event = "data: " + (char) ('a' + at) + "\n\n";
                say(server, event);
                assertEquals("9\r\n" + event + "\r\n", octets(guest, 14));
            }
            server.close();
            assertEquals("0\r\n\r\n", octets(guest, 5));
            assertEquals(How.ANSWERED, it.exchanges(1).getFirst().how());
            say(guest, get("/again"));
            Socket next = it.server();
            assertTrue(head(next).startsWith("GET /again "));
        }
    }

    @Test
    void answersWithoutABody() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(guest, "HEAD / HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
            assertEquals("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", head(guest));
            assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", head(guest));
            say(guest, get("/"));
            head(server);
            say(server, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: e\r\n\r\n");
            assertEquals("HTTP/1.1 304 Not Modified\r\nETag: e\r\nContent-Length: 5\r\n\r\n", head(guest));
            say(guest, get("/"));
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", head(guest));
            assertEquals(3, it.exchanges(3).size());
        }
    }

    @Test
    void aClientThatWaitsForLeaveToSendItsBody() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            String head = "PUT /x HTTP/1.1\r\nHost: ok.local\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
            say(guest, head);
            assertEquals("HTTP/1.1 100 Continue\r\n\r\n", head(guest));
            Socket server = it.server();
            String forwarded = head(server);
            assertTrue(!forwarded.contains("Expect"), forwarded);
            say(guest, "ok");
            assertEquals("ok", octets(server, 2));
            say(server, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
            assertTrue(head(guest).startsWith("HTTP/1.1 201 "));
            say(guest, head.replace("/x", "/denied"));
            assertTrue(head(guest).startsWith("HTTP/1.1 403 "));
            all(guest);
        }
    }

    @Test
    void aRefusalIsReadableAndEndsTheConnection() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(
                    guest,
                    "POST /denied HTTP/1.1\r\nHost: ok.local\r\nContent-Length: 100000\r\n\r\n" + "x".repeat(100_000));
            String head = head(guest);
            assertTrue(head.startsWith("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"), head);
            assertTrue(head.contains("\r\nConnection: close\r\n"), head);
            assertEquals(
                    "{\"error\":\"Blackbox egress gateway: a \\\"path\\\" of no good\","
                            + "\"rule\":\"deny[0]\",\"status\":403}\n",
                    all(guest));
            Socket server = it.server();
            assertEquals("", all(server), "nothing reached the other side");
            Socket other = it.guest();
            say(other, get("/elsewhere"));
            assertTrue(all(other).startsWith("HTTP/1.1 421 Misdirected Request\r\n"));
            HttpExchange refused = it.exchanges(2).getFirst();
            assertEquals(How.REFUSED, refused.how());
            assertEquals(403, refused.status());
            assertEquals("deny[0]", refused.rule());
            assertEquals(0, refused.request().octets());
        }
    }

    /// Far more than may be held goes through, while either side waits for the other.
    @Test
    void bigBodiesAreNotHeld() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            int size = 3 << 20;
            var body = new byte[size];
            it.served.random.nextBytes(body);
            String text = new String(body, StandardCharsets.ISO_8859_1);
            Socket guest = it.guest();
            var writing = CompletableFuture.runAsync(() -> {
                try {
                    say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nContent-Length: " + size + "\r\n\r\n" + text);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Socket server = it.server();
            head(server);
            assertEquals(text, octets(server, size));
            writing.get();
            var answering = CompletableFuture.runAsync(() -> {
                try {
                    say(server, "HTTP/1.1 200 OK\r\n\r\n" + text);
                    server.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            head(guest);
            var back = new StringBuilder();
            for (String line = line(guest); !line.equals("0"); line = line(guest)) {
                back.append(octets(guest, Integer.parseInt(line, 16)));
                octets(guest, 2);
            }
            answering.get();
            assertEquals(text, back.toString());
            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals(new HttpExchange.Body(size, sha256(text)), told.request());
            assertEquals(new HttpExchange.Body(size, sha256(text)), told.response());
            long most = it.served.onLoop(GuestNetwork::mostBufferedOctets);
            assertTrue(most < 1 << 20, "held " + most);
        }
    }

    private static String line(Socket socket) throws Exception {
        var line = new StringBuilder();
        while (line.indexOf("\r\n") < 0) {
            line.append(octets(socket, 1));
        }
        return line.substring(0, line.length() - 2);
    }

    static String valueOf(String field, String head) {
        int from = head.indexOf("\r\n" + field + ": ") + field.length() + 4;
        return head.substring(from, head.indexOf("\r\n", from));
    }

    static String accept(String key) throws Exception {
        byte[] octets = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII);
        return Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-1").digest(octets));
    }

    static String webSocket() {
        return lines(
                "GET /ws HTTP/1.1",
                "Host: ok.local",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 13");
    }

    /// The server takes nothing until the guest has gone, and the host's own buffers are small.
    @Test
    void whatIsSaidLastOnAWebSocketArrives() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            it.served.sendBufferBytes = 4 << 10;
            it.served.server.setReceiveBufferSize(4 << 10);
            Socket guest = it.guest();
            say(guest, webSocket());
            Socket server = it.server();
            String key = valueOf("Sec-WebSocket-Key", head(server));
            say(
                    server,
                    lines(
                            "HTTP/1.1 101 Switching Protocols",
                            "Upgrade: websocket",
                            "Connection: Upgrade",
                            "Sec-WebSocket-Accept: " + accept(key)));
            head(guest);
            var all = new byte[48 << 10]; // less than would make the gateway wait
            it.served.random.nextBytes(all);
            guest.getOutputStream().write(all);
            guest.close();
            it.served.listener.await(
                    "the guest's side stays open", listener -> !listener.ends().isEmpty());
            assertArrayEquals(all, server.getInputStream().readAllBytes());
        }
    }

    @Test
    void aWebSocketIsRelayed() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(guest, webSocket());
            Socket server = it.server();
            String head = head(server);
            assertTrue(head.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), head);
            String key = valueOf("Sec-WebSocket-Key", head);
            assertNotEquals("dGhlIHNhbXBsZSBub25jZQ==", key, "the guest could know what answers it");
            say(
                    server,
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n"
                            + "Sec-WebSocket-Accept: " + accept(key) + "\r\n\r\nfirst");
            String opened = head(guest);
            assertTrue(opened.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), opened);
            assertEquals("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", valueOf("Sec-WebSocket-Accept", opened), "of RFC 6455");
            assertEquals("first", octets(guest, 5));
            say(guest, "\u0081\u0000");
            assertEquals("\u0081\u0000", octets(server, 2));
            server.close();
            assertEquals("", all(guest));
            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals(How.SWITCHED, told.how());
            assertEquals(101, told.status());
            assertTrue(it.served.listener.decisions().stream().anyMatch(known -> known.stage() == Stage.WS));
        }
    }

    @Test
    void whatTheOtherSideMayNotAnswer() throws Exception {
        var answers = List.of(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
                "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
                "HTTP/2 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\n Folded: x\r\n\r\n",
                "SSH-2.0-x\r\n\r\n",
                "");
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            for (String answer : answers) {
                Socket guest = it.guest();
                say(guest, get("/"));
                Socket server = it.server();
                head(server);
                say(server, answer);
                server.shutdownOutput();
                assertTrue(all(guest).startsWith("HTTP/1.1 502 Bad Gateway\r\n"), answer);
                assertEquals(-1, server.getInputStream().read());
            }
            assertTrue(it.exchanges(answers.size()).stream()
                    .allMatch(told -> told.how() == How.BROKEN_BY_UPSTREAM && told.status() == 502));
        }
    }

    @Test
    void anAnswerThatIsCutOffStaysSo() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(guest, get("/"));
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
            head(guest);
            assertEquals("half", octets(guest, 4));
            server.close();
            assertEquals("", all(guest));
            assertEquals(How.BROKEN_BY_UPSTREAM, it.exchanges(1).getFirst().how());
        }
    }

    @Test
    void anEarlyAnswerEndsTheConnection() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nContent-Length: 50\r\n\r\nsome");
            Socket server = it.server();
            head(server);
            say(server, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
            String head = head(guest);
            assertTrue(head.contains("\r\nConnection: close\r\n"), head);
            assertEquals("no", octets(guest, 2));
            say(guest, "x".repeat(46));
            assertEquals("", all(guest));
            assertEquals(How.ANSWERED, it.exchanges(1).getFirst().how());
        }
    }

    @Test
    void aGuestThatLeavesAtAnyStage() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket idle = it.guest();
            idle.close();
            Socket half = it.guest();
            say(half, "GET / HT");
            half.close();
            Socket body = it.guest();
            say(body, "POST /body HTTP/1.1\r\nHost: ok.local\r\nContent-Length: 50\r\n\r\nsome");
            Socket first = it.server();
            Socket second = it.server();
            Socket third = it.server();
            assertEquals("", all(first));
            assertEquals("", all(second));
            head(third);
            body.close();
            assertEquals("some", all(third));
            HttpExchange told = it.exchanges(1).getFirst();
            assertEquals(How.BROKEN_BY_GUEST, told.how());
            assertEquals(4, told.request().octets());
            assertNull(told.firstOctet());
            TestConnection waiting = it.connection();
            waiting.send(get("/slow").getBytes(StandardCharsets.US_ASCII));
            head(it.server());
            waiting.awaitAcknowledged(); // a reset is heeded only at the place that is expected
            waiting.say(waiting.acknowledged(), TcpSegment.RST, new byte[0]);
            assertEquals(How.BROKEN_BY_GUEST, it.exchanges(2).getLast().how());
            it.served.listener.await(
                    "not all have ended", listener -> listener.ends().size() == 4);
        }
    }

    @Test
    void aGatewayThatClosesTellsOfWhatWasGoingOn() throws Exception {
        var it = new Inspected(folder, Inspection.REQUESTS);
        try (it) {
            Socket guest = it.guest();
            say(guest, get("/slow"));
            head(it.server());
        }
        assertEquals(How.GATEWAY_CLOSED, it.exchanges(1).getFirst().how());
    }

    @Test
    void whatIsNoHttp() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            TestConnection other = it.connection();
            other.send(new byte[] {0, 1, 2});
            other.awaitReset();
            TestConnection preface = it.connection();
            preface.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            preface.awaitFinished();
            assertTrue(new String(preface.received(), StandardCharsets.US_ASCII).startsWith("HTTP/1.1 505 "));
            it.server();
            it.server();
            TestConnection serverFirst = it.connection();
            say(it.server(), "220 hello\r\n");
            serverFirst.awaitReset();
            it.served.listener.await("not found", listener -> listener.count(Finding.NOT_HTTP) == 2);
            assertEquals(List.of(), it.served.listener.exchanges());
        }
        try (var it = new Inspected(folder, Inspection.OPEN)) {
            Socket guest = it.guest();
            Socket server = it.server();
            say(server, "220 hello\r\n");
            assertEquals("220 hello\r\n", octets(guest, 11));
            say(guest, "GET / HTTP/1.1\r\n\r\n");
            assertEquals("GET / HTTP/1.1\r\n\r\n", octets(server, 18), "not HTTP any more");
            Socket first = it.guest();
            say(first, "SSH-2.0-x\r\n");
            Socket second = it.server();
            assertEquals("SSH-2.0-x\r\n", octets(second, 11));
            first.shutdownOutput();
            assertEquals(-1, second.getInputStream().read());
            say(second, "half-closed");
            second.close();
            assertEquals("half-closed", all(first));
        }
    }

    @Test
    void theOtherSideIsDialledAgain() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            Socket guest = it.guest();
            for (int round = 0; round < 4; round++) {
                say(guest, get("/" + round));
                Socket server = it.server();
                assertTrue(head(server).startsWith("GET /" + round + " "));
                say(server, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
                server.close();
                head(guest);
                assertEquals("ok", octets(guest, 2));
            }
            it.served.server.close();
            say(guest, get("/gone"));
            assertTrue(all(guest).startsWith("HTTP/1.1 502 "));
            assertEquals(
                    4,
                    it.served.listener.decisions().stream()
                            .filter(known -> known.stage() == Stage.DIAL)
                            .count());
            assertEquals(502, it.exchanges(5).getLast().status());
        }
    }
}
