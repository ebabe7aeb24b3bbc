package blackbox.recorder.anchor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.anchor.Anchoring.Outcome;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.recorder.witness.Witness;
import blackbox.recorder.witness.WitnessAnswer;
import blackbox.schemas.Hash;
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
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A real log of runs, a real witness and a real time authority behind a real HTTP server.
@Timeout(120)
class AnchoringTest {

    private static final Instant NOW = Instant.parse("2026-11-22T03:00:00Z");
    private static final SecureRandom RANDOM = new SecureRandom();

    @TempDir
    private Path folder;

    private final Ed25519Key key = Ed25519Key.create("blackbox/log/test", RANDOM);
    private final CosignatureKey witnessKey = CosignatureKey.createEd25519("w.example/1", RANDOM);
    private final TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
    private final AtomicInteger asked = new AtomicInteger();
    private final HttpPoster client = new HttpPoster(Duration.ofSeconds(10));
    private final HttpServer server;
    private TransparencyLogWriter log;
    private Witness witness;
    private volatile boolean up = true;

    AnchoringTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void start() throws Exception {
        log = new TransparencyLogWriter(
                folder.resolve("log"),
                new TransparencyLogWriter.Signer(List.of(key), NOW, null),
                InstantSource.fixed(NOW));
        witness =
                Witness.open(folder.resolve("witness"), witnessKey, List.of(key.verifier()), InstantSource.fixed(NOW));
        server.createContext("/tsa", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            reply(exchange, 200, TimeAnswer.MEDIA_TYPE, authority.answer(body, NOW));
        });
        server.createContext("/w/add-checkpoint", exchange -> {
            try {
                WitnessAnswer answer =
                        witness.addCheckpoint(exchange.getRequestBody().readAllBytes());
                reply(
                        exchange,
                        answer.status(),
                        answer.contentType(),
                        answer.body().getBytes(StandardCharsets.UTF_8));
            } catch (RecorderException e) {
                throw new IOException(e);
            }
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        Path keys = Files.createDirectories(folder.resolve("keys/time"));
        Files.writeString(keys.resolve("root.pem"), authority.rootPem());
        Files.writeString(
                folder.resolve("keys/policy"),
                "log " + key.verifier().encoded() + "\nwitness w "
                        + witnessKey.verifier().encoded() + " " + address("/w") + "\nquorum w\n");
        Files.writeString(folder.resolve("keys/anchors.conf"), "# who stamps\ntsa " + address("/tsa") + "\n");
    }

    private void reply(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        asked.incrementAndGet();
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(up ? status : 503, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        server.stop(0);
        witness.close();
    }

    private URI address(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    private Anchoring anchoring(URI... more) throws RecorderException {
        return new Anchoring(
                folder.resolve("log"), AnchorSettings.read(new DataFolder(folder), List.of(more)), client, RANDOM);
    }

    private String note(int number) {
        return SignedNote.sign("note " + number + "\n", key);
    }

    @Test
    void theLogIsAnchoredAndOnlyWhatIsMissingIsAskedForAgain() throws Exception {
        assertInstanceOf(Outcome.Nothing.class, anchoring().run());
        for (int round = 1; round <= 3; round++) {
            long size = log.append(List.of(note(round))).size();
            int before = asked.get();
            var outcome = assertInstanceOf(Outcome.Asked.class, anchoring().run());
            assertTrue(outcome.isComplete(), outcome.missing().toString());
            assertTrue(outcome.quorum());
            assertEquals(size, outcome.checkpoint().size());
            assertEquals(Set.of(address("/tsa").toString()), outcome.stamps().keySet());
            assertTrue(asked.get() > before);
            requireKept(outcome.checkpoint());

            int after = asked.get();
            assertEquals(outcome, anchoring().run());
            assertEquals(after, asked.get(), "nobody is asked twice");
            URI second = address("/tsa?2");
            assertEquals(
                    2,
                    assertInstanceOf(Outcome.Asked.class, anchoring(second).run())
                            .stamps()
                            .size());
            assertEquals(after + 1, asked.get());
            assertTrue(Files.exists(folder.resolve("log/anchors/" + size + "-2.tsr")));
        }
    }

    private void requireKept(Checkpoint checkpoint) throws Exception {
        Path anchors = folder.resolve("log/anchors");
        SignedNote kept = SignedNote.parse(Files.readAllBytes(anchors.resolve(checkpoint.size() + ".note")));
        assertNotNull(kept);
        assertEquals(checkpoint.text(), kept.text());
        assertEquals(
                List.of(key.verifier(), witnessKey.verifier()),
                kept.signers(List.of(key.verifier(), witnessKey.verifier())));
        TimeToken token = TimeToken.ofResponse(Files.readAllBytes(anchors.resolve(checkpoint.size() + "-1.tsr")));
        Hash imprint = Hash.sha256(checkpoint.text().getBytes(StandardCharsets.UTF_8));
        AnchorSettings settings = AnchorSettings.read(new DataFolder(folder), List.of());
        assertInstanceOf(TimeVerdict.Stamped.class, settings.trusted().verify(token, imprint));
    }

    @Test
    void whoeverDoesNotAnswerIsMissingAndIsAskedAgain() throws Exception {
        log.append(List.of(note(1)));
        up = false;
        var outcome = assertInstanceOf(Outcome.Asked.class, anchoring().run());
        assertTrue(!outcome.isComplete());
        assertEquals(Set.of("w", address("/tsa").toString()), outcome.missing().keySet());
        up = true;
        assertTrue(assertInstanceOf(Outcome.Asked.class, anchoring().run()).isComplete());
        // A stamp that was damaged on the disk is fetched anew.
        Path stamp = folder.resolve("log/anchors/2-1.tsr");
        byte[] octets = Files.readAllBytes(stamp);
        octets[40] ^= 1;
        Files.write(stamp, octets);
        assertTrue(assertInstanceOf(Outcome.Asked.class, anchoring().run()).isComplete());
        requireKept(outcome.checkpoint());
    }

    @Test
    void aLogThatIsNotWhatItSignsIsNotAnchored() throws Exception {
        log.append(List.of(note(1), note(2)));
        Path tile = folder.resolve("log/tile/0/000.p/3");
        byte[] octets = Files.readAllBytes(tile);
        octets[5] ^= 1;
        Files.write(tile, octets);
        assertThrows(RecorderException.class, () -> anchoring().run());
        assertEquals(0, asked.get());
        Files.writeString(folder.resolve("log/checkpoint"), "nothing\n");
        assertThrows(RecorderException.class, () -> anchoring().run());
    }

    @Test
    void oneProcessAtATimeAnchors() throws Exception {
        log.append(List.of(note(1)));
        Files.createDirectories(folder.resolve("log/anchors"));
        try (ProcessLock held = ProcessLock.tryTake(folder.resolve("log/anchors/lock"))) {
            assertNotNull(held);
            assertInstanceOf(Outcome.Busy.class, anchoring().run());
        }
        assertInstanceOf(Outcome.Asked.class, anchoring().run());
    }

    @Test
    void inTheBackgroundTroubleIsToldOnceAndItsEndToo() throws Exception {
        log.append(List.of(note(1)));
        up = false;
        var said = new LinkedBlockingQueue<String>();
        var pacing = new AnchorLoop.Pacing(Duration.ofMillis(1), Duration.ofMillis(4));
        try (AnchorLoop loop = AnchorLoop.start(anchoring(), pacing, said::add)) {
            assertNotNull(loop);
            assertTrue(String.valueOf(said.poll(30, TimeUnit.SECONDS)).contains("not everyone anchors"));
            int before = asked.get();
            while (asked.get() < before + 6) {
                Thread.onSpinWait();
            }
            assertTrue(said.isEmpty(), "it is told once");
            up = true;
            assertEquals("the log of runs is anchored again", said.poll(30, TimeUnit.SECONDS));
        }
        try (AnchorLoop once = AnchorLoop.start(anchoring(), AnchorLoop.Pacing.ONCE, said::add)) {
            assertTrue(once.awaitFirst(Duration.ofSeconds(30)));
            assertTrue(said.isEmpty());
        }
        var standard = AnchorLoop.Pacing.STANDARD;
        assertEquals(Duration.ofMinutes(10), standard.after(0));
        assertEquals(Duration.ofMinutes(40), standard.after(2));
        assertEquals(Duration.ofHours(2), standard.after(60));
    }

    @Test
    void settingsThatCannotBeUsedAreRefused() throws Exception {
        Path keys = folder.resolve("keys");
        assertTrue(AnchorSettings.read(new DataFolder(folder.resolve("none")), List.of())
                .isEmpty());
        for (String[] bad : new String[][] {
            {"anchors.conf", "https://tsa.example\n"},
            {"anchors.conf", "tsa not an address\n"},
            {"policy", "quorum nobody\n"},
            {"time/root.pem", "no certificate\n"}
        }) {
            String good = Files.readString(keys.resolve(bad[0]));
            Files.writeString(keys.resolve(bad[0]), bad[1]);
            var failure =
                    assertThrows(RecorderException.class, () -> AnchorSettings.read(new DataFolder(folder), List.of()));
            assertEquals(RecorderException.Code.ANCHOR, failure.code());
            Files.writeString(keys.resolve(bad[0]), good);
        }
    }
}
