package blackbox.recorder.anchor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.time.TimeQuery;
import blackbox.evidence.witness.TestHistory;
import blackbox.recorder.RecorderException;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.recorder.witness.Witness;
import blackbox.recorder.witness.WitnessAnswer;
import blackbox.schemas.Hash;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Time authorities and witnesses behind a real HTTP server, honest and not.
class OutsidePartiesTest {

    private static final Instant NOW = Instant.parse("2026-11-22T03:00:00Z");
    private static final Hash IMPRINT = Hash.sha256(new byte[] {1, 2, 3});
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Ed25519Key LOG = Ed25519Key.create("example/log", RANDOM);

    private final CountDownLatch over = new CountDownLatch(1);
    private final List<String> asked = new ArrayList<>();
    private HttpServer server;
    private HttpPoster client;

    @TempDir
    private Path folder;

    OutsidePartiesTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        client = new HttpPoster(Duration.ofSeconds(5));
    }

    @BeforeEach
    void start() {
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    @AfterEach
    void stop() {
        over.countDown();
        client.close();
        server.stop(0);
    }

    private URI serve(String path, String type, int status, Answerer answerer) {
        server.createContext(path, exchange -> {
            byte[] answer = answerer.answer(exchange, exchange.getRequestBody().readAllBytes());
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, answer.length == 0 ? -1 : answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    /// What a server says to a body.
    private interface Answerer {
        byte[] answer(HttpExchange exchange, byte[] body) throws IOException;
    }

    @Test
    void aTimeAuthorityIsAskedAndChecked() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        URI address = serve("/tsa", TimeAnswer.MEDIA_TYPE, 200, (exchange, query) -> {
            asked.add(exchange.getRequestHeaders().getFirst("Content-Type"));
            return authority.answer(query, NOW);
        });
        var stamps = new TimeStamps(client, TimeAuthorities.of(List.of(authority.root())), RANDOM);
        var stamped = assertInstanceOf(TimeStamps.Outcome.Stamped.class, stamps.ask(address, IMPRINT));
        assertEquals(NOW, stamped.verdict().time());
        assertEquals(List.of(TimeQuery.MEDIA_TYPE), asked);

        var none = new TimeStamps(client, TimeAuthorities.of(List.of()), RANDOM);
        failed("no time authority is trusted", none.ask(address, IMPRINT));
    }

    @Test
    void whatATimeAuthorityShouldNotSayIsNotTaken() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        byte[] old = authority.answer(TimeQuery.create(IMPRINT, RANDOM).encoded(), NOW);
        var stamps = new TimeStamps(client, TimeAuthorities.of(List.of(authority.root())), RANDOM);
        String type = TimeAnswer.MEDIA_TYPE;
        failed("its nonce is not the one", stamps.ask(serve("/replayed", type, 200, (_, _) -> old), IMPRINT));
        URI other = serve(
                "/other",
                type,
                200,
                (_, _) -> authority.answer(TimeQuery.create(Hash.ZERO, RANDOM).encoded(), NOW));
        failed("another query", stamps.ask(other, IMPRINT));
        URI refusing = serve("/refusing", type, 200, (_, _) -> TestTimeAuthority.refusal(2, "closed", 25));
        failed("rejected, 'closed', systemFailure (status 2)", stamps.ask(refusing, IMPRINT));
        failed("status 503", stamps.ask(serve("/down", type, 503, (_, _) -> new byte[0]), IMPRINT));
        failed("'text/html'", stamps.ask(serve("/page", "text/html", 200, (_, _) -> old), IMPRINT));
        failed("not ASN.1", stamps.ask(serve("/noise", type, 200, (_, _) -> new byte[] {1, 2}), IMPRINT));
        failed("no answer: ", stamps.ask(serve("/long", type, 200, (_, _) -> new byte[70 << 10]), IMPRINT));
        failed("no answer: ", stamps.ask(URI.create("http://127.0.0.1:1/"), IMPRINT));
        failed("http or https", stamps.ask(URI.create("ftp://127.0.0.1/"), IMPRINT));
    }

    @Test
    void anAuthorityThatDoesNotAnswerIsGivenUp() throws Exception {
        URI address = serve("/silent", TimeAnswer.MEDIA_TYPE, 200, (_, _) -> {
            awaitTheEnd();
            return new byte[0];
        });
        URI halting = URI.create(address.toString().replace("silent", "halting"));
        server.createContext("/halting", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", TimeAnswer.MEDIA_TYPE);
            exchange.sendResponseHeaders(200, 1000);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            awaitTheEnd();
        });
        try (HttpPoster impatient = new HttpPoster(Duration.ofMillis(300))) {
            var stamps = new TimeStamps(impatient, TimeAuthorities.of(List.of()), RANDOM);
            assertInstanceOf(TimeStamps.Outcome.Failed.class, stamps.ask(address, IMPRINT));
            failed("no complete answer", stamps.ask(halting, IMPRINT));
        }
    }

    private void awaitTheEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void failed(String why, TimeStamps.Outcome outcome) {
        var failed = assertInstanceOf(TimeStamps.Outcome.Failed.class, outcome);
        assertTrue(failed.why().contains(why), failed.why());
    }

    @Test
    void witnessesCosignFromWhateverSizeTheyKnow() throws Exception {
        var history = new TestHistory(1, 30, LOG);
        CosignatureKey one = CosignatureKey.createEd25519("w.example/1", RANDOM);
        CosignatureKey two = CosignatureKey.createMlDsa44("w.example/2", RANDOM);
        CosignatureKey absent = CosignatureKey.createEd25519("w.example/3", RANDOM);
        try (Witness first = witness("one", one);
                Witness second = witness("two", two)) {
            second.addCheckpoint(history.from(0, 7).encoded());
            var addresses = new LinkedHashMap<String, URI>();
            addresses.put("one", witnessAt("/one", first));
            addresses.put("two", witnessAt("/two", second));
            addresses.put("three", URI.create("http://127.0.0.1:1"));
            String text = policyText(one, two, absent, "group g 2 one two three\nquorum g\n");
            TrustPolicy policy = TrustPolicy.parse(text, NoteVerifiers::parse);
            var witnesses = new Witnesses(client, policy, addresses);
            for (int size : new int[] {10, 10, 30}) {
                Witnesses.Outcome outcome = witnesses.cosign(
                        history.note(size), old -> history.prover().consistency(old, size));
                assertTrue(outcome.quorum(), outcome.missing().toString());
                assertEquals(Set.of("three"), outcome.missing().keySet());
                assertTrue(policy.judge(outcome.note()).satisfied());
                assertEquals(3, outcome.note().signatures().size());
                // What is stored is read again.
                SignedNote stored = SignedNote.parse(outcome.note().encoded());
                assertEquals(outcome.note(), stored);
            }
            TrustPolicy all = TrustPolicy.parse(
                    policyText(one, two, absent, "group g all one two three\nquorum g\n"), NoteVerifiers::parse);
            Witnesses.Outcome partial = new Witnesses(client, all, Map.of("one", addresses.get("one")))
                    .cosign(history.note(30), old -> history.prover().consistency(old, 30));
            assertTrue(!partial.quorum());
            assertEquals(Set.of("two", "three"), partial.missing().keySet());
        }
    }

    @Test
    void aWitnessThatKnowsMoreOrAnotherHistorySaysSo() throws Exception {
        var history = new TestHistory(1, 30, LOG);
        var other = new TestHistory(2, 30, LOG);
        CosignatureKey key = CosignatureKey.createEd25519("w.example/1", RANDOM);
        try (Witness witness = witness("one", key)) {
            witness.addCheckpoint(other.from(0, 20).encoded());
            var witnesses = new Witnesses(
                    client,
                    TrustPolicy.parse(policyText(key), NoteVerifiers::parse),
                    Map.of("one", witnessAt("/one", witness)));
            missing("more than 10", witnesses, history, 10);
            missing("a different history of the log", witnesses, history, 20);
            missing("status 422", witnesses, history, 30);
        }
    }

    @Test
    void whatAWitnessShouldNotSayIsNotTaken() throws Exception {
        var history = new TestHistory(1, 10, LOG);
        CosignatureKey key = CosignatureKey.createEd25519("w.example/1", RANDOM);
        CosignatureKey stranger = CosignatureKey.createEd25519("w.example/1", RANDOM);
        byte[] text = history.at(10).text().getBytes(StandardCharsets.UTF_8);
        byte[] other = history.at(9).text().getBytes(StandardCharsets.UTF_8);
        String wrong = line(key, key.cosign(other, 7));
        Map<String, String> bodies = Map.of(
                "does not verify",
                wrong,
                "has no cosignature",
                line(stranger, stranger.cosign(text, 7)),
                "is not a cosignature",
                "thank you\n");
        for (Map.Entry<String, String> body : bodies.entrySet()) {
            URI address = serve(
                    "/" + body.getKey().replace(' ', '-'),
                    "text/plain",
                    200,
                    (_, _) -> body.getValue().getBytes(StandardCharsets.UTF_8));
            missing(body.getKey(), witnesses(key, address), history, 10);
        }
        URI both = serve(
                "/both",
                "text/plain",
                200,
                (_, _) -> (line(stranger, stranger.cosign(text, 7)) + line(key, key.cosign(text, 7)))
                        .getBytes(StandardCharsets.UTF_8));
        Witnesses.Outcome outcome = witnesses(key, both)
                .cosign(history.note(10), old -> history.prover().consistency(old, 10));
        assertTrue(outcome.quorum());
        assertEquals(2, outcome.note().signatures().size());
        int[] size = {1};
        URI fickle = serve(
                "/fickle", WitnessAnswer.SIZE_TYPE, 409, (_, _) -> (size[0]++ + "\n").getBytes(StandardCharsets.UTF_8));
        missing("a different size each time", witnesses(key, fickle), history, 10);
        URI untyped = serve("/untyped", "text/plain", 409, (_, _) -> "5\n".getBytes(StandardCharsets.UTF_8));
        missing("status 409: 5", witnesses(key, untyped), history, 10);
    }

    @Test
    void addressesComeFromThePolicy() {
        CosignatureKey key = CosignatureKey.createEd25519("w.example/1", RANDOM);
        String vkey = key.verifier().encoded();
        assertEquals(
                Map.of("a", URI.create("https://w.example/x")),
                WitnessAddresses.parse("# witness c " + vkey + " https://no.example\n \twitness a\t" + vkey
                        + "  https://w.example/x \nwitness b " + vkey + "\nquorum none\n"));
        assertArrayEquals(new Object[0], WitnessAddresses.parse("").keySet().toArray());
    }

    private Witnesses witnesses(CosignatureKey key, URI address) {
        TrustPolicy policy = TrustPolicy.parse(policyText(key), NoteVerifiers::parse);
        return new Witnesses(client, policy, Map.of("one", address));
    }

    private static void missing(String why, Witnesses witnesses, TestHistory history, int size) throws Exception {
        Witnesses.Outcome outcome =
                witnesses.cosign(history.note(size), old -> history.prover().consistency(old, size));
        assertTrue(!outcome.quorum());
        assertEquals(1, outcome.note().signatures().size());
        assertTrue(
                String.valueOf(outcome.missing().get("one")).contains(why),
                outcome.missing().toString());
    }

    private static String line(CosignatureKey key, byte[] cosignature) {
        NoteVerifier verifier = key.verifier();
        return new SignedNote.Signature(verifier.name(), verifier.keyId(), cosignature).line();
    }

    private static String policyText(CosignatureKey key) {
        return "log " + LOG.verifier().encoded() + "\nwitness one "
                + key.verifier().encoded() + "\nquorum one\n";
    }

    private static String policyText(CosignatureKey one, CosignatureKey two, CosignatureKey three, String rest) {
        return "log " + LOG.verifier().encoded() + "\nwitness one "
                + one.verifier().encoded() + "\nwitness two " + two.verifier().encoded() + "\nwitness three "
                + three.verifier().encoded() + "\n" + rest;
    }

    private Witness witness(String name, CosignatureKey key) throws Exception {
        return Witness.open(folder.resolve(name), key, List.of(LOG.verifier()), InstantSource.fixed(NOW));
    }

    private URI witnessAt(String path, Witness witness) {
        server.createContext(path + "/add-checkpoint", exchange -> {
            try {
                WitnessAnswer answer =
                        witness.addCheckpoint(exchange.getRequestBody().readAllBytes());
                byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", answer.contentType());
                exchange.sendResponseHeaders(answer.status(), body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            } catch (RecorderException e) {
                throw new IOException(e);
            }
        });
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path + "/");
    }
}
