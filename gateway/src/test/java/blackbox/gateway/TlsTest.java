package blackbox.gateway;

import static blackbox.gateway.Inspected.all;
import static blackbox.gateway.Inspected.head;
import static blackbox.gateway.Inspected.octets;
import static blackbox.gateway.Inspected.say;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Decision;
import blackbox.gateway.egress.Decision.Stage;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.stack.GuestNetwork;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// TLS that is opened, or looked at; the guest's client and the server are the JDK's.
class TlsTest {
    private static final String GET = "GET /tls HTTP/1.1\r\nHost: ok.local\r\n\r\n";

    @TempDir
    Path folder;

    private static void serve(SSLSocket server) {
        try {
            head(server);
            say(server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Decision> decisions(Inspected it) {
        return it.served.listener.decisions().stream()
                .filter(known -> known.stage() == Stage.TLS)
                .toList();
    }

    @Test
    void requestsInTlsOfBothVersions() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            SSLContext context = it.certificates.server(Inspected.NAME);
            for (String version : List.of("TLSv1.3", "TLSv1.2")) {
                SSLSocket guest = it.tls(Inspected.NAME, version);
                SSLSocket server = it.server(context);
                var serving = CompletableFuture.runAsync(() -> {
                    serve(server);
                    serve(server);
                });
                for (int round = 0; round < 2; round++) {
                    say(guest, GET);
                    assertEquals("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", head(guest));
                    assertEquals("ok", octets(guest, 2));
                }
                serving.get();
                assertEquals(version, guest.getSession().getProtocol());
                guest.close();
            }
            assertTrue(it.exchanges(4).stream()
                    .allMatch(told -> told.scheme().equals("https") && told.how() == How.ANSWERED));
            assertEquals(List.of(Inspected.NAME, Inspected.NAME), it.serverNames);
            assertEquals(
                    List.of(Inspected.NAME, Inspected.NAME),
                    decisions(it).stream().map(Decision::what).toList());
            it.served.listener.await(
                    "not all have ended", listener -> listener.ends().size() == 2);
            long held = it.served.onLoop(GuestNetwork::bufferedOctets);
            assertEquals(0, held);
            String answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            String said = (">" + GET + "<" + answer).repeat(2);
            assertTrue(
                    it.served.listener.plaintexts().stream().allMatch(each -> each.equals(said + "|finished|CLOSED")),
                    it.served.listener.plaintexts()::toString);
            assertEquals(2, it.served.listener.plaintexts().size());
        }
    }

    /// What comes in one go is more than the guest's connection takes: what is left over is written when it takes
    /// more, and may be all that it takes again.
    @Test
    void longAnswersInTls() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            SSLSocket guest = it.tls(Inspected.NAME);
            SSLSocket server = it.server(it.certificates.server(Inspected.NAME));
            var body = new byte[8 << 20];
            it.served.random.nextBytes(body);
            var serving = CompletableFuture.runAsync(() -> {
                try {
                    head(server);
                    say(server, "HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n");
                    server.getOutputStream().write(body);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            say(guest, GET);
            head(guest);
            assertArrayEquals(body, guest.getInputStream().readNBytes(body.length));
            serving.get();
            assertEquals(body.length, it.exchanges(1).getFirst().response().octets());
        }
    }

    @Test
    void theOtherSideMustProveWhoItIs() throws Exception {
        try (var it = new Inspected(folder, Inspection.OPEN)) {
            var bad = List.of(
                    TestCertificates.selfSigned(Inspected.NAME),
                    it.certificates.server("other.local"),
                    it.certificates.expired(Inspected.NAME),
                    new TestCertificates().server(Inspected.NAME));
            for (SSLContext context : bad) {
                SSLSocket guest = it.tls(Inspected.NAME);
                SSLSocket server = it.server(context);
                var serving = CompletableFuture.runAsync(() -> assertThrows(
                        IOException.class, () -> server.getInputStream().read()));
                var failure = assertThrows(SSLException.class, guest::startHandshake);
                assertTrue(String.valueOf(failure.getMessage()).contains("bad_certificate"), failure.getMessage());
                serving.get();
            }
            it.served.listener.await(
                    "not found", listener -> listener.count(Finding.UPSTREAM_CERTIFICATE) == bad.size());
            List<Decision> denied =
                    decisions(it).stream().filter(known -> !known.allowed()).toList();
            assertEquals(bad.size(), denied.size());
            assertTrue(
                    denied.getFirst().reason().startsWith("the certificate of ok.local does not verify: "),
                    denied.getFirst().reason());
            assertEquals(List.of(), it.served.listener.exchanges());
            SSLSocket guest = it.tls(Inspected.NAME);
            Socket server = it.server();
            say(server, "220 this is no TLS\r\n");
            assertThrows(IOException.class, guest::startHandshake);
        }
    }

    @Test
    void aGuestThatDoesNotTrustTheGateway() throws Exception {
        try (var it = new Inspected(folder, Inspection.OPEN)) {
            SSLContext context = it.certificates.server(Inspected.NAME);
            SSLSocket guest = it.tls(SSLContext.getDefault(), Inspected.NAME);
            SSLSocket server = it.server(context);
            var serving = CompletableFuture.runAsync(() -> assertThrows(IOException.class, () -> {
                if (server.getInputStream().read() < 0) {
                    throw new IOException("closed");
                }
            }));
            assertThrows(SSLException.class, guest::startHandshake);
            serving.get();
            it.served.listener.await("not found", listener -> listener.count(Finding.GUEST_DOES_NOT_TRUST) == 1);
        }
    }

    @Test
    void anotherServerNameIsRefused() throws Exception {
        for (Inspection inspection : Inspection.values()) {
            try (var it = new Inspected(folder, inspection)) {
                SSLSocket guest = it.tls("other.local");
                Socket server = it.server();
                var failure = assertThrows(SSLException.class, guest::startHandshake);
                assertTrue(String.valueOf(failure.getMessage()).contains("access_denied"), failure.getMessage());
                try {
                    assertEquals(-1, server.getInputStream().read());
                } catch (IOException e) {
                    assertEquals("Connection reset", e.getMessage());
                }
                Decision decision = decisions(it).getFirst();
                assertEquals("other.local", decision.what());
                assertEquals("builtin:misdirected", decision.rule());
            }
        }
    }

    @Test
    void sealedTlsIsTheServersOwn() throws Exception {
        try (var it = new Inspected(folder, Inspection.SEALED)) {
            SSLContext context = it.certificates.server(Inspected.NAME);
            for (String name : new String[] {Inspected.NAME, null}) {
                SSLSocket guest =
                        it.tls(TestCertificates.client(it.certificates.trust().getAcceptedIssuers()[0]), name);
                SSLSocket server = it.server(context);
                var serving = CompletableFuture.runAsync(() -> serve(server));
                say(guest, GET);
                head(guest);
                assertEquals("ok", octets(guest, 2));
                serving.get();
            }
            assertEquals(
                    List.of(Inspected.NAME, ""),
                    decisions(it).stream().map(Decision::what).toList());
            Socket plain = it.guest();
            Socket server = it.server();
            say(server, "220 first\r\n");
            assertEquals("220 first\r\n", octets(plain, 11));
            say(plain, "\u0016\u0003");
            plain.shutdownOutput();
            assertEquals("\u0016\u0003", all(server), "the beginning of a hello that never came");
            TestConnection malformed = it.connection();
            malformed.send(new byte[] {22, 3, 1, 0, 4, 2, 0, 0, 0});
            malformed.awaitReset();
            assertEquals(1, it.served.listener.count(Finding.MALFORMED_TLS));
        }
    }

    @Test
    void whatIsNotHttpInsideOfTls() throws Exception {
        for (Inspection inspection : List.of(Inspection.OPEN, Inspection.REQUESTS)) {
            try (var it = new Inspected(folder, inspection)) {
                SSLContext context = it.certificates.server(Inspected.NAME);
                SSLSocket guest = it.tls(Inspected.NAME);
                SSLSocket server = it.server(context);
                var echo = CompletableFuture.runAsync(() -> {
                    try {
                        say(server, octets(server, 3));
                    } catch (IOException _) {
                        return; // reset
                    }
                });
                say(guest, "\u0000\u0001\u0002");
                if (inspection == Inspection.OPEN) {
                    assertEquals("\u0000\u0001\u0002", octets(guest, 3));
                    guest.close();
                    assertEquals("", all(server));
                } else {
                    assertThrows(IOException.class, () -> {
                        if (guest.getInputStream().read() < 0) {
                            throw new IOException("closed");
                        }
                    });
                    assertEquals(1, it.served.listener.count(Finding.NOT_HTTP));
                }
                echo.get();
                SSLSocket waiting = it.tls(Inspected.NAME);
                SSLSocket first = it.server(context);
                var greeting = CompletableFuture.runAsync(() -> {
                    try {
                        say(first, "220 hi");
                    } catch (IOException _) {
                        return; // reset
                    }
                });
                if (inspection == Inspection.OPEN) {
                    assertEquals("220 hi", octets(waiting, 6));
                } else {
                    assertThrows(IOException.class, () -> {
                        waiting.startHandshake();
                        if (waiting.getInputStream().read() < 0) {
                            throw new IOException("closed");
                        }
                    });
                }
                greeting.get();
            }
        }
    }

    @Test
    void theOtherSideIsDialledAgainWithTls() throws Exception {
        try (var it = new Inspected(folder, Inspection.REQUESTS)) {
            SSLContext context = it.certificates.server(Inspected.NAME);
            SSLSocket guest = it.tls(Inspected.NAME);
            for (int round = 0; round < 3; round++) {
                var serving = CompletableFuture.runAsync(() -> {
                    try {
                        SSLSocket server = it.server(context);
                        head(server);
                        say(server, "HTTP/1.1 200 OK\r\n\r\nuntil close");
                        server.close();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                say(guest, GET);
                assertTrue(head(guest).contains("Transfer-Encoding: chunked"));
                assertEquals("b\r\nuntil close\r\n0\r\n\r\n", octets(guest, 21));
                serving.get();
            }
            var bad = CompletableFuture.runAsync(() -> {
                try {
                    SSLSocket server = it.server(TestCertificates.selfSigned(Inspected.NAME));
                    assertThrows(
                            IOException.class, () -> server.getInputStream().read());
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            say(guest, GET);
            assertTrue(all(guest).startsWith("HTTP/1.1 502 Bad Gateway\r\n"));
            bad.get();
            assertEquals(4, it.exchanges(4).size());
        }
    }
}
