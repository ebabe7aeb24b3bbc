package blackbox.gateway;

import static blackbox.gateway.Inspected.all;
import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Requests that are none, or that could be read in two ways: nothing of them reaches the other side.
class SmugglingTest {
    private static final String BODY = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ok.local\r\n\r\n";

    @TempDir
    Path folder;

    private record Case(int status, String request) {}

    /// A head with these fields, and a body that is a request in some readings.
    private static Case fields(String fields) {
        return new Case(400, "POST / HTTP/1.1\r\nHost: ok.local\r\n" + fields + "\r\n\r\n" + BODY);
    }

    private static Case start(int status, String line) {
        return new Case(status, line + "\r\nHost: ok.local\r\n\r\n");
    }

    private static List<Case> cases() {
        return List.of(
                fields("Content-Length: 5\r\nTransfer-Encoding: chunked"),
                fields("Transfer-Encoding: chunked\r\nContent-Length: 5"),
                fields("Content-Length: 5\r\nContent-Length: 5"),
                fields("Content-Length: 5\r\nContent-Length: 6"),
                fields("Content-Length: 5, 5"),
                fields("Content-Length: +5"),
                fields("Content-Length: -1"),
                fields("Content-Length: 0x5"),
                fields("Content-Length: 5 5"),
                fields("Content-Length: "),
                fields("Content-Length: 99999999999999999999"),
                fields("Transfer-Encoding: identity"),
                fields("Transfer-Encoding: gzip, chunked"),
                fields("Transfer-Encoding: chunked, chunked"),
                fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
                fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
                fields("Transfer-Encoding: xchunked"),
                fields("Transfer-Encoding: chunked;q=1"),
                fields("Transfer-Encoding: \"chunked\""),
                fields("Transfer-Encoding: \u000bchunked"),
                fields("Transfer-Encoding:\r\n chunked"),
                fields("Transfer-Encoding : chunked"),
                fields(" Transfer-Encoding: chunked"),
                fields("X: y\r\n Transfer-Encoding: chunked"),
                fields("X: y\r\n\tfolded"),
                fields("X: y\nTransfer-Encoding: chunked"),
                fields("X: y\rTransfer-Encoding: chunked"),
                fields("X: a\u0000b"),
                fields("X: a\u0007b"),
                fields("X: a\u007fb"),
                fields("X\u0000: a"),
                fields("X y: a"),
                fields(": a"),
                fields("no colon"),
                fields("H\u00f6st: a"),
                fields("Host: ok.local"),
                fields("host: other.local"),
                fields("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1, 1"),
                new Case(417, "POST / HTTP/1.1\r\nHost: ok.local\r\nExpect: 200-maybe\r\nContent-Length: 1\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\n\r\n"),
                new Case(400, "GET / HTTP/1.0\r\nX: y\r\n\r\n"),
                new Case(400, "POST / HTTP/1.0\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY),
                new Case(400, "GET / HTTP/1.1\r\nHost: ok.local@other.local\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\nHost: ok.local, other.local\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\nHost: ok.local/path\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\nHost: ok.local:x\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\nHost: ok.local\n\n"),
                new Case(400, "\r\nGET / HTTP/1.1\r\nHost: ok.local\r\n\r\n"),
                new Case(400, "GET / HTTP/1.1\r\n Host: ok.local\r\n\r\n"),
                new Case(
                        400,
                        "POST / HTTP/1.1\r\nHost: ok.local\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                                + "Content-Length: 5\r\n\r\nhello"),
                start(400, "GET  / HTTP/1.1"),
                start(400, "GET / HTTP/1.1 "),
                start(400, "GET /a b HTTP/1.1"),
                start(400, "GET\t/ HTTP/1.1"),
                start(400, "GET / http/1.1"),
                start(400, "GET / HTTP/1.10"),
                start(400, "GET /"),
                start(400, "GET /\u00e4 HTTP/1.1"),
                start(400, "GET /\u0001 HTTP/1.1"),
                start(400, "G(T / HTTP/1.1".replace("G(T", "GET /a\u0000")),
                start(505, "GET / HTTP/1.2"),
                start(505, "GET / HTTP/2.0"),
                start(505, "GET / HTTP/0.9"),
                start(414, "GET /" + "a".repeat(20_000) + " HTTP/1.1"),
                new Case(431, "GET / HTTP/1.1\r\nHost: ok.local\r\nX: " + "a".repeat(70_000)),
                new Case(431, "GET / HTTP/1.1\r\nHost: ok.local\r\n" + "X: y\r\n".repeat(600)));
    }

    @Test
    void nothingOfThemIsForwarded() throws Exception {
        assertTrue(cases().size() >= 60, "a table of " + cases().size());
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            for (Case attack : cases()) {
                Socket guest = it.guest();
                say(guest, attack.request());
                String answer = all(guest);
                assertTrue(answer.startsWith("HTTP/1.1 " + attack.status() + " "), attack.request() + "\n\n" + answer);
                assertTrue(answer.contains("\"status\":" + attack.status()), answer);
                assertEquals("", all(it.server()), attack.request());
            }
            assertEquals(List.of(), it.heads, "none was judged");
            assertEquals(List.of(), it.served.listener.exchanges());
            it.served.listener.await(
                    "not found",
                    listener -> listener.count(Finding.MALFORMED_HTTP) >= Integer.highestOneBit(cases().size()));
        }
    }

    /// The head is in order, the body is not: what was forwarded is cut off, never a request of its own.
    @Test
    void aBrokenBodyBreaksOff() throws Exception {
        var bodies = List.of(
                "5;ext=1\r\nhello\r\n" + BODY,
                "5 \r\nhello\r\n" + BODY,
                "0x5\r\nhello\r\n" + BODY,
                "-1\r\n" + BODY,
                "\r\n" + BODY,
                "5\nhello\r\n" + BODY,
                "5\r\nhello" + BODY,
                "4\r\nhello\r\n" + BODY,
                "FFFFFFFFFFFFFFFFF\r\nhello",
                "0\r\nX: y\n\r\n" + BODY,
                "0\r\nX y: z\r\n\r\n" + BODY);
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            for (String body : bodies) {
                Socket guest = it.guest();
                say(guest, "POST / HTTP/1.1\r\nHost: ok.local\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
                assertTrue(all(guest).startsWith("HTTP/1.1 400 Bad Request\r\n"), body);
                String forwarded = all(it.server());
                assertTrue(!forwarded.contains("smuggled") && !forwarded.endsWith("0\r\n\r\n"), forwarded);
            }
            assertTrue(it.exchanges(bodies.size()).stream().allMatch(told -> told.how() == How.BROKEN_BY_GUEST));
        }
    }

    /// Whatever an authority allows, only requests for a path go out.
    @Test
    void whatIsNotForwardedEvenIfAllowed() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            for (String line : List.of(
                    "GET http://ok.local/ HTTP/1.1",
                    "CONNECT ok.local:443 HTTP/1.1",
                    "TRACE / HTTP/1.1",
                    "GET * HTTP/1.1",
                    "GET path HTTP/1.1")) {
                Socket guest = it.guest();
                say(guest, line + "\r\nHost: ok.local\r\n\r\n");
                assertTrue(all(guest).startsWith("HTTP/1.1 403 Forbidden\r\n"), line);
                assertEquals("", all(it.server()), line);
            }
        }
        try (var it = new Inspected(
                folder,
                Inspection.REQUESTS,
                head -> new RequestVerdict(Verdict.allow("odd", "odd"), head.target() + "\r\nX: y", 403))) {
            Socket guest = it.guest();
            say(guest, "GET / HTTP/1.1\r\nHost: ok.local\r\n\r\n");
            assertTrue(all(guest).startsWith("HTTP/1.1 403 Forbidden\r\n"));
            assertEquals("", all(it.server()));
        }
    }

    @Test
    void theTargetThatWasJudgedIsForwarded() throws Exception {
        try (var it = new Inspected(
                folder,
                Inspection.REQUESTS,
                head -> new RequestVerdict(Verdict.allow("canonical", "canonical"), "/canonical", 403))) {
            Socket guest = it.guest();
            say(guest, "OPTIONS /%63anonical HTTP/1.0\r\nHost: ok.local.\r\n\r\n");
            Socket server = it.server();
            assertTrue(head(server).startsWith("OPTIONS /canonical HTTP/1.1\r\nHost: ok.local\r\n"));
            say(server, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n");
            assertEquals("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nyes", all(guest), "as HTTP/1.0 has it");
        }
    }

    @Test
    void aHeadThatNeverEnds() throws Exception {
        var settings = new InspectionSettings(Duration.ofMillis(300), Duration.ofMillis(300));
        try (var it = new Inspected(
                folder,
                Inspection.REQUESTS,
                head -> new RequestVerdict(Verdict.allow("a", "a"), head.target(), 403),
                settings)) {
            Socket slow = it.guest();
            say(slow, "GET / HTTP/1.1\r\nX: ");
            assertTrue(all(slow).startsWith("HTTP/1.1 408 Request Timeout\r\n"));
            it.connection().awaitReset();
            TestConnection hello = it.connection();
            hello.send(new byte[] {22, 3, 1, 0, 100});
            hello.awaitReset();
            it.served.listener.await("not found", listener -> listener.count(Finding.NOT_HTTP) == 2);
        }
    }
}
