package blackbox.node.alert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.outbound.HttpPoster;
import blackbox.rules.Rule;
import blackbox.rules.shipped.ShippedRules;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Alerts reach their receiver, however long it is away.
@Timeout(60)
class OutboxTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private final RunId run = RunId.create(Instant.EPOCH, new Random(1));
    private final Rule rule = ShippedRules.all().getFirst();
    private final List<String> got = new CopyOnWriteArrayList<>();
    private final List<String> said = new CopyOnWriteArrayList<>();
    private DataFolder data;
    private HttpServer receiver;
    private volatile int status = 200;
    private volatile String forged = "";

    @BeforeEach
    void listen() throws IOException {
        data = new DataFolder(folder.resolve("data"));
        Files.createDirectories(data.keys());
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", this::take);
        receiver.start();
    }

    @AfterEach
    void stop() {
        receiver.stop(0);
    }

    private URI address() {
        return URI.create("http://127.0.0.1:" + receiver.getAddress().getPort() + "/alerts");
    }

    private void take(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String id = exchange.getRequestHeaders().getFirst("webhook-id");
            String at = exchange.getRequestHeaders().getFirst("webhook-timestamp");
            if (!exchange.getRequestHeaders().getFirst("webhook-signature").equals(signature(id, at, body))) {
                forged = body;
            }
            if (status == 200) {
                got.add(id);
            }
            exchange.sendResponseHeaders(status, -1);
        }
    }

    /// As Standard Webhooks has it.
    private String signature(String id, String at, String body) throws IOException {
        try {
            String secret = Files.readString(data.webhookSecret()).strip().substring("whsec_".length());
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
            byte[] signed = mac.doFinal((id + "." + at + "." + body).getBytes(StandardCharsets.UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(signed);
        } catch (java.security.GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private Alert alert(long index) {
        return new Alert(run, index, 1_000 + index, rule, 1, List.of(index - 1));
    }

    private long waiting() throws IOException {
        if (!Files.isDirectory(data.alerts())) {
            return 0;
        }
        try (Stream<Path> files = Files.list(data.alerts())) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        }
    }

    @Test
    void eachIsSentOnceSignedAndInOrder() throws Exception {
        try (Outbox outbox = Outbox.open(data, said::add)) {
            for (int i = 1; i <= 20; i++) {
                outbox.put(address(), alert(i));
            }
            assertEquals(0, outbox.finish(PATIENCE));
        }
        assertEquals(
                Stream.iterate(1, i -> i + 1).limit(20).map(i -> run + ":" + i).toList(), got);
        assertEquals("", forged);
        assertEquals(List.of(), said);
        assertEquals("rw-------", posix(data.webhookSecret()));
    }

    private static String posix(Path file) throws IOException {
        return java.nio.file.attribute.PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private void awaitSaid(int count) {
        while (said.size() < count) {
            Thread.onSpinWait();
        }
    }

    /// A receiver that is away keeps nothing from another one.
    @Test
    void eachReceiverIsWaitedForByItself() throws Exception {
        try (Outbox outbox = Outbox.open(data, said::add)) {
            outbox.put(URI.create("http://127.0.0.1:1/token"), alert(1));
            outbox.put(address(), alert(2));
            awaitSaid(1);
            while (got.isEmpty()) {
                Thread.onSpinWait();
            }
            assertEquals(1, outbox.finish(Duration.ofSeconds(2)));
        }
        assertEquals(List.of(run + ":2"), got);
        assertFalse(said.getFirst().contains("token"), said::toString);
    }

    /// It answers 503, then nobody is there, the process that had them ends, and another one sends them.
    @Test
    void aReceiverThatWasAwayGetsAllOfThem() throws Exception {
        status = 503;
        try (Outbox outbox = Outbox.open(data, said::add)) {
            outbox.put(address(), alert(1));
            outbox.put(address(), alert(2));
            awaitSaid(1);
            assertEquals(2, outbox.finish(Duration.ofMillis(1)));
        }
        assertTrue(said.getFirst().contains("answered 503"), said::toString);
        InetSocketAddress where = receiver.getAddress();
        URI to = address();
        receiver.stop(0);
        try (Outbox outbox = Outbox.open(data, said::add)) {
            outbox.put(to, alert(3));
            awaitSaid(2);
            assertEquals(1, outbox.finish(Duration.ofMillis(1)), "its own");
        }
        status = 200;
        receiver = HttpServer.create(where, 0);
        receiver.createContext("/", this::take);
        receiver.start();
        try (Outbox outbox = Outbox.open(data, said::add)) {
            assertEquals(0, outbox.finishAll(PATIENCE));
        }
        assertEquals(List.of(run + ":1", run + ":2", run + ":3"), got);
    }

    @Test
    void oneProcessSendsAndAnotherPuts() throws Exception {
        try (Outbox serving = Outbox.open(data, said::add)) {
            assertEquals(0, serving.finish(Duration.ofMillis(1)));
        }
        assertFalse(Files.exists(data.alerts()), "without alerts nothing is written");
        assertFalse(Files.exists(data.webhookSecret()));
        try (Outbox one = Outbox.open(data, said::add);
                Outbox other = Outbox.open(data, said::add)) {
            one.put(address(), alert(1));
            other.put(address(), alert(2));
            assertEquals(0, other.finish(PATIENCE));
            assertEquals(0, one.finish(PATIENCE));
        }
        assertEquals(List.of(run + ":1", run + ":2"), got.stream().sorted().toList());
    }

    @Test
    void whatIsNoAlertIsPutAside() throws Exception {
        Files.createDirectories(data.alerts());
        Files.writeString(data.alerts().resolve("0.json"), "{\"to\":\"http://198.51.100.7/\",\"body\":\"x\"}");
        Files.writeString(data.alerts().resolve("1.json"), "{");
        try (Outbox outbox = Outbox.open(data, said::add)) {
            outbox.put(address(), alert(1));
            assertEquals(0, outbox.finishAll(PATIENCE));
        }
        assertEquals(List.of(run + ":1"), got);
        assertEquals(2, said.size(), said::toString);
        assertEquals(0, waiting());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://example.org/",
                "ftp://example.org/",
                "https://user:word@example.org/",
                "https:///x",
                "alerts",
                "https://example.org/#x",
                "https://exa mple.org/",
                "https://example.org:99999/"
            })
    void alertsGoToNoOtherAddress(String address) {
        assertThrows(IllegalArgumentException.class, () -> HttpPoster.confidential(address, "alerts"));
    }

    @Test
    void whatIsNoSecretIsNotUsed() throws Exception {
        Files.writeString(data.webhookSecret(), "whsec_short\n");
        assertThrows(IOException.class, () -> Webhook.secret(data.webhookSecret(), new SecureRandom()));
    }
}
