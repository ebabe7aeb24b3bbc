package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.runlog.TransparencyLogWriter;
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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox anchor` over a real log of runs and a time authority behind a real HTTP server.
class AnchorCommandTest {

    private static final Instant NOW = Instant.parse("2026-11-22T03:00:00Z");

    @TempDir
    Path data;

    private TimeStampServer server;
    private String address = "";

    @BeforeEach
    void start() throws Exception {
        server = new TimeStampServer(NOW);
        address = server.address();
        server.trustIn(data);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private record Said(int exitCode, String out, String err) {}

    private Said anchor(String... arguments) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        try {
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            var all = new ArrayList<>(List.of("anchor", "--data", data.toString()));
            all.addAll(List.of(arguments));
            int exitCode = Main.run(all.toArray(new String[0]));
            return new Said(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(outBefore);
            System.setErr(errBefore);
        }
    }

    private void beginLog() throws Exception {
        Ed25519Key key = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        var log = new TransparencyLogWriter(
                data.resolve("log"),
                new TransparencyLogWriter.Signer(List.of(key), NOW, null),
                InstantSource.fixed(NOW));
        log.append(List.of(SignedNote.sign("a leaf\n", key)));
    }

    @Test
    void theLogIsStamped() throws Exception {
        beginLog();
        Said said = anchor("--tsa", address, "--json");
        assertEquals(0, said.exitCode(), said.err());
        JsonNode json = new ObjectMapper().readTree(said.out());
        assertEquals("blackbox/log/test", json.path("origin").asText());
        assertEquals(2, json.path("size").asInt());
        JsonNode stamp = json.path("timeStamps").path(0);
        assertEquals(address, stamp.path("url").asText());
        assertEquals(
                "2026-11-22T03:00:01.500000000Z", stamp.path("notLaterThan").asText());
        assertEquals("CN=Test Time Stamps", stamp.path("authority").asText());
        assertTrue(json.path("missing").isEmpty());
        assertTrue(Files.exists(data.resolve("log/anchors/2-1.tsr")));
        assertEquals(said.out(), anchor("--tsa", address, "--json").out());
        assertTrue(anchor("--tsa", address).out().contains("time stamp " + address));
    }

    @Test
    void whatIsMissingIsReported() throws Exception {
        Said nobody = anchor();
        assertEquals(2, nobody.exitCode());
        assertTrue(nobody.err().contains("no witness or time authority is configured"), nobody.err());
        Said unborn = anchor("--tsa", address);
        assertEquals(2, unborn.exitCode());
        assertTrue(unborn.err().contains("there is no log of runs"), unborn.err());
        beginLog();
        Said down = anchor("--tsa", "http://127.0.0.1:1/", "--timeout", "5s");
        assertEquals(3, down.exitCode());
        assertTrue(down.err().contains("missing: http://127.0.0.1:1/"), down.err());
        Files.writeString(data.resolve("keys/policy"), "quorum nobody\n");
        Said bad = anchor("--tsa", address);
        assertEquals(3, bad.exitCode());
        assertTrue(bad.err().contains("keys/policy"), bad.err());
    }
}
