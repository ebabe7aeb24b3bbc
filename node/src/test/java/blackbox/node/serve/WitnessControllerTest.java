package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.witness.AddCheckpoint;
import blackbox.evidence.witness.TestHistory;
import blackbox.recorder.anchor.Witnesses;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.WitnessKeyFile;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.recorder.witness.Witness;
import blackbox.recorder.witness.WitnessAnswer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The witness of `serve`, over HTTP, asked by our own client and by hand.
@Timeout(120)
class WitnessControllerTest {

    private static final Ed25519Key LOG = Ed25519Key.create("example/log", new SecureRandom());

    @TempDir
    Path data;

    private final HttpClient client = HttpClient.newHttpClient();

    private @Nullable TestService service;

    @AfterEach
    void stop() {
        if (service != null) {
            service.close();
        }
    }

    private ApiServer serve(@Nullable Witness witness) throws Exception {
        TestService opened = TestService.in(data, List::of, witness);
        service = opened;
        return ApiServer.start(opened.context(), ApiServerTest.LOOPBACK, null);
    }

    private HttpResponse<String> post(ApiServer server, byte[] body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.uri() + "/witness/add-checkpoint"))
                .timeout(Duration.ofSeconds(20))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        return client.send(request, BodyHandlers.ofString());
    }

    @Test
    void aLogIsWitnessedOverHttp() throws Exception {
        KeyAccess access = KeyAccess.system();
        CosignatureKey key = WitnessKeyFile.loadOrCreate(data.resolve("witness"), access);
        var history = new TestHistory(1, 20, LOG);
        var other = new TestHistory(2, 20, LOG);
        try (Witness witness = Witness.open(data.resolve("witness"), key, List.of(LOG.verifier()), access.clock());
                ApiServer server = serve(witness);
                var outside = new HttpPoster(Duration.ofSeconds(20))) {
            TrustPolicy policy = TrustPolicy.parse(
                    "log " + LOG.verifier().encoded() + "\nwitness w "
                            + key.verifier().encoded() + "\nquorum w\n",
                    NoteVerifiers::parse);
            var witnesses = new Witnesses(outside, policy, Map.of("w", URI.create(server.uri() + "/witness")));
            for (int size : new int[] {5, 12}) {
                Witnesses.Outcome outcome = witnesses.cosign(
                        history.note(size), old -> history.prover().consistency(old, size));
                assertTrue(
                        policy.judge(outcome.note()).satisfied(),
                        outcome.missing().toString());
            }
            // The same log with another history, a smaller tree, a stranger's log, and noise.
            assertEquals(422, post(server, other.from(12, 20).encoded()).statusCode());
            HttpResponse<String> conflict = post(server, history.from(0, 5).encoded());
            assertEquals(409, conflict.statusCode());
            assertEquals("12\n", conflict.body());
            assertEquals(
                    WitnessAnswer.SIZE_TYPE,
                    conflict.headers().firstValue("content-type").orElse(""));
            var stranger = new TestHistory(1, 5, Ed25519Key.create("example/unknown", new SecureRandom()));
            assertEquals(404, post(server, stranger.from(0, 5).encoded()).statusCode());
            var forged = new TestHistory(1, 20, Ed25519Key.create("example/log", new SecureRandom()));
            assertEquals(403, post(server, forged.from(12, 20).encoded()).statusCode());
            assertEquals(400, post(server, new byte[] {'o', 'l', 'd'}).statusCode());
            assertEquals(400, post(server, new byte[0]).statusCode());
            assertEquals(413, post(server, new byte[AddCheckpoint.OCTETS_MAX]).statusCode());
        }
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("witness/witness.key"))));
        assertEquals(
                key.verifier().encoded(),
                WitnessKeyFile.loadOrCreate(data.resolve("witness"), access)
                        .verifier()
                        .encoded());
    }

    @Test
    void aServiceThatIsNotAWitnessSaysSo() throws Exception {
        try (ApiServer server = serve(null)) {
            HttpResponse<String> response =
                    post(server, new TestHistory(1, 5, LOG).from(0, 5).encoded());
            assertEquals(404, response.statusCode());
            assertTrue(response.body().contains("serve --witness"), response.body());
        }
    }
}
