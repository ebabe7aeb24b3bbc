package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.keys.CertifiedKey;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.TlsKeyFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The service over TLS, asked by clients that nobody here wrote, and by some that are hostile.
@Timeout(60)
class ApiTlsTest {

    /// TLS 1.1's version, as it is in records and in ClientHello.
    private static final String TLS_1_1 = "0302";

    @TempDir
    Path data;

    private CertifiedKey key;
    private TestService service;
    private ApiServer server;
    private String token;

    @BeforeEach
    void start() throws Exception {
        key = TlsKeyFiles.loadOrCreate(
                data.resolve("keys"),
                ApiServerTest.LOOPBACK
                        .alsoCalled(List.of("certified.example", "under_score", "*.wild.example"))
                        .certifiedNames(),
                KeyAccess.system(),
                _ -> {});
        service = TestService.in(data, List::of, null);
        token = service.token();
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, key);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
    }

    /// What an operator gives a client: the certificate from the data folder, whose fingerprint was printed.
    private SSLContext trustingTheCertificate() throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        try (InputStream in = Files.newInputStream(TlsKeyFiles.certificate(data.resolve("keys")))) {
            var certificate = CertificateFactory.getInstance("X.509").generateCertificate(in);
            assertEquals(key.chain().getFirst(), certificate);
            trusted.setCertificateEntry("blackbox", certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }

    private HttpResponse<String> get(SSLContext context, SSLParameters parameters) throws Exception {
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(context)
                .sslParameters(parameters)
                .build()) {
            var request = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs"))
                    .header("Authorization", "Bearer " + token)
                    .timeout(Duration.ofSeconds(20));
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    @Test
    void aClientThatTrustsTheCertificateIsAnswered() throws Exception {
        assertEquals("https", server.uri().getScheme());
        SSLContext context = trustingTheCertificate();
        HttpResponse<String> response = get(context, context.getDefaultSSLParameters());
        assertEquals(200, response.statusCode(), response.body());
        assertEquals("TLSv1.3", response.sslSession().orElseThrow().getProtocol());
        var old = new SSLParameters();
        old.setProtocols(new String[] {"TLSv1.2"});
        HttpResponse<String> older = get(context, old);
        assertEquals("TLSv1.2", older.sslSession().orElseThrow().getProtocol());
        String cipher = older.sslSession().orElseThrow().getCipherSuite();
        assertTrue(cipher.matches("TLS_ECDHE_.*(GCM_SHA256|GCM_SHA384|POLY1305_SHA256)"), cipher);
    }

    @Test
    void aClientThatDoesNotTrustItSendsNothing() throws Exception {
        SSLContext others = SSLContext.getInstance("TLS");
        others.init(null, (TrustManager[]) null, null);
        assertThrows(SSLException.class, () -> get(others, others.getDefaultSSLParameters()));
    }

    @Test
    void opensslVerifiesNameAndFingerprint() throws Exception {
        String said =
                openssl("-CAfile", TlsKeyFiles.certificate(data.resolve("keys")).toString());
        assertTrue(said.contains("Verify return code: 0 (ok)"), said);
        assertTrue(said.contains("New, TLSv1.3"), said);
        assertTrue(said.contains("HTTP/1.1 200 OK"), said);
    }

    /// Asks over a connection that `openssl s_client` makes.
    private String openssl(String... further) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                "openssl", "s_client", "-connect", "127.0.0.1:" + server.uri().getPort()));
        command.addAll(List.of("-verify_ip", "127.0.0.1", "-verify_return_error", "-ign_eof"));
        command.addAll(List.of(further));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var out = process.getOutputStream()) {
            out.write("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    @Test
    void theNamesOfTheCertificateAreAnsweredTo() throws Exception {
        assertTrue(key.hostNames().contains("certified.example"));
        try (SSLSocket socket = secure()) {
            send(socket, "GET /health HTTP/1.1\r\nHost: certified.example\r\nConnection: close\r\n\r\n");
            assertTrue(received(socket).startsWith("HTTP/1.1 200 "));
        }
    }

    @Test
    void aNameThatTheServiceDoesNotHaveIsRefusedOverTlsToo() throws Exception {
        try (SSLSocket socket = secure()) {
            send(socket, "GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
            assertTrue(received(socket).startsWith("HTTP/1.1 421 "));
        }
    }

    @Test
    void plainHttpGetsNoAnswer() throws Exception {
        try (Socket socket = open()) {
            send(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
            String received = received(socket);
            assertFalse(received.contains("HTTP") || received.contains("UP"), received);
        }
    }

    @Test
    void olderProtocolsAreRefused() throws Exception {
        try (Socket socket = open()) {
            socket.getOutputStream().write(clientHello(TLS_1_1));
            byte[] received = received(socket).getBytes(StandardCharsets.ISO_8859_1);
            assertTrue(received.length >= 7, "an alert");
            assertEquals(21, received[0], "an alert (RFC 8446, section 6)");
            assertEquals(70, received[6], "protocol_version");
        }
    }

    /// A whole ClientHello (RFC 5246, section 7.4.1.2) without extensions.
    private static byte[] clientHello(String version) {
        String body = version + "5a".repeat(32) + "00" + "0004" + "c014" + "0035" + "0100";
        String handshake = "01" + octets3(body.length() / 2) + body;
        String message = "16" + "0301" + String.format(Locale.ROOT, "%04x", handshake.length() / 2) + handshake;
        return HexFormat.of().parseHex(message);
    }

    private static String octets3(int value) {
        return String.format(Locale.ROOT, "%06x", value);
    }

    /// Each handshake costs the server a signature; TLS 1.3 has no second one.
    @Test
    void aClientCannotRenegotiate() throws Exception {
        try (SSLSocket socket = secure("TLSv1.2")) {
            socket.startHandshake(); // sends ClientHello and returns; the answer is read below
            assertThrows(IOException.class, () -> {
                send(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                socket.getInputStream().readAllBytes();
            });
        }
    }

    /// Half a request, a handshake that never begins, and one that never continues.
    @Test
    void stalledClientsAreCutOffWhileOthersAreServed() throws Exception {
        byte[] hello = clientHello("0303");
        var stalled = new ArrayList<Socket>();
        for (int i = 0; i < 20; i++) {
            stalled.add(open());
            Socket begun = open();
            begun.getOutputStream().write(hello, 0, 5 + i);
            stalled.add(begun);
            SSLSocket half = secure();
            send(half, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".substring(0, 10 + i));
            stalled.add(half);
        }
        SSLContext context = trustingTheCertificate();
        assertEquals(200, get(context, context.getDefaultSSLParameters()).statusCode());
        for (Socket each : stalled) {
            try (each) {
                received(each); // to the end of the connection
            }
        }
    }

    /// Sending an octet at a time does not keep a connection open: the deadline is for the whole request.
    @Test
    void aRequestThatDripsIsCutOff() throws Exception {
        try (SSLSocket socket = secure();
                var drip = Executors.newSingleThreadScheduledExecutor()) {
            send(socket, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
            var dripping = drip.scheduleAtFixedRate(() -> drop(socket), 50, 50, TimeUnit.MILLISECONDS);
            assertEquals("", received(socket));
            dripping.cancel(true);
        }
    }

    private static void drop(Socket socket) {
        try {
            send(socket, "x");
        } catch (IOException e) {
            throw new UncheckedIOException(e); // ends the schedule
        }
    }

    private Socket open() throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.uri().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private SSLSocket secure() throws Exception {
        return secure("TLSv1.3");
    }

    private SSLSocket secure(String protocol) throws Exception {
        var socket = (SSLSocket) trustingTheCertificate()
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), server.uri().getPort());
        socket.setSoTimeout(20_000);
        socket.setEnabledProtocols(new String[] {protocol});
        socket.startHandshake();
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /// All that comes before the connection ends, in ISO 8859-1; a reset ends it as well.
    private static String received(Socket socket) throws IOException {
        var received = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(received);
        } catch (SocketException | SSLException e) {
            System.err.println("tls test: ended by " + e.getMessage());
        }
        return received.toString(StandardCharsets.ISO_8859_1);
    }
}
