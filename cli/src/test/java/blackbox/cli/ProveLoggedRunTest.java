package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Proofs over what the recorder writes: epoch keys, and a log of runs under a classical and a post-quantum
/// key.
class ProveLoggedRunTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final String LOG = "blackbox/log/test";

    @TempDir
    Path data;

    private final RunId run = RunId.create(START, new Random(7));

    private void record() throws Exception {
        var random = new SecureRandom();
        Ed25519Key longTerm = Ed25519Key.create(LOG, random);
        var signer = new TransparencyLogWriter.Signer(List.of(longTerm, MlDsaKey.create44(LOG, random)), START, null);
        var log = new TransparencyLogWriter(data.resolve("log"), signer, InstantSource.fixed(START));
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(data.resolve("keys/log.pub"), longTerm.verifier().encoded() + "\n");
        var keys = new EphemeralKeys(run, random);
        var detail = JSON.createObjectNode();
        detail.putObject("recorder").put("certificate", log.certify(run, keys.first()));
        try (var sealer =
                new RunSealer(run, keys, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START))) {
            var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
            sealer.append(new Event.RunOpen(header, Text.of("first"), detail.toString()));
            sealer.seal();
            for (int i = 0; i < 300; i++) {
                sealer.append(new Event.RecorderLoss(header, 1, "ring", null));
            }
            sealer.seal();
            sealer.append(new Event.RunClose(header, sealer.size(), 0, 0, null, null));
            log.append(List.of(sealer.seal().checkpoint()));
        }
    }

    private String ran(int exitCode, String... arguments) {
        var octets = new ByteArrayOutputStream();
        PrintStream standard = System.out;
        System.setOut(new PrintStream(octets, true, StandardCharsets.UTF_8));
        try {
            var all = new String[arguments.length + 2];
            System.arraycopy(arguments, 0, all, 0, arguments.length);
            all[arguments.length] = "--data";
            all[arguments.length + 1] = data.toString();
            assertEquals(exitCode, Main.run(all), () -> octets.toString(StandardCharsets.UTF_8));
            return octets.toString(StandardCharsets.UTF_8);
        } finally {
            System.setOut(standard);
        }
    }

    @Test
    void everyEventOfARecordedRunIsProven() throws Exception {
        record();
        Path proof = data.resolve("event.json");
        for (String index : List.of("0", "1", "200", "302")) {
            ran(ExitCodes.OK, "prove", "first", index, "--out", proof.toString());
            JsonNode verdict = JSON.readTree(ran(ExitCodes.OK, "verify", proof.toString(), "--json"));
            assertEquals("VERIFIED", verdict.path("integrity").asText(), verdict.toString());
            assertTrue(verdict.path("proof").path("holds").asBoolean(), verdict.toString());
            assertTrue(verdict.path("authorship").path("trusted").asBoolean());
            assertEquals(
                    LOG,
                    verdict.path("proof").path("logCheckpoint").path("origin").asText());
        }
        Files.delete(data.resolve("keys/log.pub"));
        JsonNode verdict = JSON.readTree(ran(ExitCodes.DOES_NOT_HOLD, "verify", proof.toString(), "--json"));
        assertEquals("TAMPERED", verdict.path("integrity").asText());
    }
}
