package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The query commands as a program calls them: standard output and exit codes, for a run that is in the spool.
class QueryCommandsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");

    @TempDir
    Path data;

    private final RunId run = RunId.create(START, new Random(7));

    @BeforeEach
    void record() throws Exception {
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START));
        var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
        sealer.append(new Event.RunOpen(header, Text.of("first"), "{\"tier\":\"live\"}"));
        sealer.seal();
        sealer.append(new Event.TracerHeartbeat(
                new EventHeader(header.atNs(), Source.GUEST, new GuestOrigin(0, 1), null, Marks.NONE),
                "{\"final\":true}"));
        sealer.append(new Event.RunClose(header, sealer.size(), 0, 0, null, null));
        sealer.seal();
    }

    private record Ran(int exitCode, String out) {}

    private Ran run(String... arguments) {
        var octets = new ByteArrayOutputStream();
        PrintStream standard = System.out;
        System.setOut(new PrintStream(octets, true, StandardCharsets.UTF_8));
        try {
            var all = new String[arguments.length + 2];
            System.arraycopy(arguments, 0, all, 0, arguments.length);
            all[arguments.length] = "--data";
            all[arguments.length + 1] = data.toString();
            return new Ran(Main.run(all), octets.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(standard);
        }
    }

    private JsonNode json(String... arguments) throws Exception {
        Ran ran = run(arguments);
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.out());
        return JSON.readTree(ran.out());
    }

    @Test
    void everyAnswerIsOneDocument() throws Exception {
        assertEquals("CLOSED", json("runs", "--json").path(0).path("state").asText());
        JsonNode shown = json("show", "first", "--json");
        assertEquals("VERIFIED", shown.path("verification").path("integrity").asText(), shown.toString());
        assertTrue(json("touched", "last", "--json").path("limits").isArray());
        assertTrue(json("touched", "last", "--json", "--files").path("egress").isMissingNode());
        assertEquals(
                "COMPLETE",
                json("verify", run.value(), "--json").path("completeness").asText());
        assertEquals(
                0,
                json("query", "SELECT count(*) AS n FROM events", "--json")
                        .path(0)
                        .path("n")
                        .asInt());
        Ran events = run("events", "last", "--json", "--follow");
        assertEquals(5, events.out().lines().count(), events.out());
    }

    /// The public key of somebody who has recorded nothing here.
    private Path stranger() throws Exception {
        return Files.writeString(
                data.resolve("stranger.pub"),
                Ed25519Key.create("a/stranger", new SecureRandom()).verifier().encoded());
    }

    @Test
    void moreCanBeRequiredThanThatARunHolds() throws Exception {
        assertEquals(0, json("verify", "last", "--json").path("unmet").size());
        assertEquals(0, run("verify", "last", "--require", "complete,trusted").exitCode());
        Ran ran = run("verify", "last", "--require", "complete", "--require", "anchored,armed", "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, ran.exitCode());
        assertEquals(
                "[\"anchored\",\"armed\"]",
                JSON.readTree(ran.out()).path("unmet").toString());
        Ran said = run("verify", "last", "--require", "armed");
        assertTrue(said.out().contains("required, and not so: armed (it could be stopped"), said.out());
        Path stranger = stranger();
        assertEquals(
                ExitCodes.DOES_NOT_HOLD,
                run("verify", "last", "--require", "trusted", "--key", stranger.toString())
                        .exitCode());
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("verify", "last", "--require", "everything").exitCode());
        Path proof = data.resolve("required.json");
        json("prove", "last", "1", "--out", proof.toString(), "--json");
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("verify", proof.toString(), "--require", "complete").exitCode());
    }

    @Test
    void anEventIsProvenAndItsProofVerifies() throws Exception {
        Path proof = data.resolve("event.json");
        JsonNode said = json("prove", "last", "1", "--out", proof.toString(), "--json");
        assertEquals(1, said.path("index").asInt(), said.toString());
        assertEquals(Files.size(proof), said.path("bytes").asLong());
        assertEquals(Files.readString(proof), run("prove", "last", "1").out());
        JsonNode verdict = json("verify", proof.toString(), "--json");
        assertEquals("VERIFIED", verdict.path("integrity").asText(), verdict.toString());
        // of the run, of which a proof shows one event
        assertEquals("UNKNOWN", verdict.path("completeness").asText());
        assertTrue(verdict.path("proof").path("holds").asBoolean());
        assertTrue(verdict.path("proof").path("whole").asBoolean());
        assertEquals("HOST_CLOCK", verdict.path("time").asText());
        assertTrue(verdict.path("authorship").path("trusted").asBoolean());
        assertEquals(run.value(), verdict.path("proof").path("run").asText());
        assertEquals("recorder.heartbeat", verdict.path("proof").path("kind").asText());
        assertTrue(run("verify", proof.toString()).out().contains("event         1 of run " + run));
        Path stranger = stranger();
        assertEquals(
                ExitCodes.DOES_NOT_HOLD,
                run("verify", proof.toString(), "--key", stranger.toString()).exitCode());
        Files.writeString(proof, Files.readString(proof).replace("\"index\" : 1", "\"index\" : 0"));
        assertEquals(ExitCodes.DOES_NOT_HOLD, run("verify", proof.toString()).exitCode());
        for (String none : List.of("99", "-1", "x")) {
            assertEquals(ExitCodes.BAD_INPUT, run("prove", "last", none).exitCode(), none);
        }
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("verify", "last", "--policy", "no-such-policy").exitCode());
    }

    @Test
    void aRowThatIsNoEventHasNoProof() throws Exception {
        JsonNode rows = json("query", "SELECT 1 AS n", "--json", "--with-proofs");
        assertTrue(rows.path(0).path("proof").isNull(), rows.toString());
        assertEquals(
                ExitCodes.BAD_INPUT, run("query", "SELECT 1", "--with-proofs").exitCode());
    }

    @Test
    void peopleGetLines() {
        assertTrue(run("runs").out().contains("first"));
        assertTrue(run("events", "last").out().contains("run.close"));
        assertTrue(run("touched", "last").out().contains("no tracer reported ready"));
        assertTrue(run("verify", "last").out().contains("VERIFIED"));
        assertTrue(run("show", "last").out().contains("state         CLOSED"));
        assertTrue(run("query", "--tables").out().contains("egress: "));
        assertTrue(run("query", "SELECT 1 AS n", "--format", "csv").out().startsWith("n\r\n1"));
    }

    @Test
    void exitCodesSayWhetherTheRunHolds() throws Exception {
        assertEquals(ExitCodes.OK, run("verify", "last").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("verify", "nothing").exitCode());
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("events", "last", "--kind", "file.opne").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("query", "DROP TABLE events").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("query").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("serve", "--listen", "nowhere").exitCode());
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("verify", "last", "--key", "no-such.pub").exitCode());
        Path segment = data.resolve("spool").resolve(run.value()).resolve("%012d.seg".formatted(0));
        byte[] octets = Files.readAllBytes(segment);
        octets[octets.length / 2] ^= 1;
        Files.write(segment, octets);
        Ran tampered = run("verify", "last", "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, tampered.exitCode());
        assertEquals("TAMPERED", JSON.readTree(tampered.out()).path("integrity").asText());
    }
}
