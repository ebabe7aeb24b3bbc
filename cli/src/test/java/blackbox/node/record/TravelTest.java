package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run that was recorded in one data folder is replayed in another, which knows nothing of the first.
final class TravelTest {

    @TempDir
    static Path folder;

    @Test
    void anExactRunIsReplayedWhereItWasNotRecorded() throws Exception {
        Installation here = Installation.in(Files.createDirectory(folder.resolve("here")));
        Installation there = Installation.in(Files.createDirectory(folder.resolve("there")));
        String run = here.run(
                        "record",
                        "--tier",
                        "exact",
                        "--json",
                        "--",
                        "sh",
                        "-c",
                        "echo travelled; cat /proc/sys/kernel/random/uuid")
                .expect(0)
                .recorded()
                .path("run")
                .asText();
        String identity = folder.resolve("me.identity").toString();
        String file = folder.resolve("run.bbrun").toString();
        String key =
                here.run("keys", "identity", "--out", identity).expect(0).out().strip();

        here.run("export", run, "--format", "replay", "--out", file).expect(2).saying("--in-the-clear");
        assertFalse(Files.exists(Path.of(file)));
        here.run("export", run, "--format", "replay", "--slim", "--to", key, "--out", file)
                .expect(0);

        there.run("import", file).expect(2).saying("--identity");
        there.run("import", "--identity", identity, file).expect(0);
        JsonNode listed = there.run("runs", "--json").expect(0).json().path(0);
        assertEquals(run, listed.path("run").asText());
        assertFalse(listed.path("imported").path("trusted").asBoolean(true));
        JsonNode verified =
                there.run("verify", run, "--json").expect(0).saying("UNTRUSTED").json();
        assertEquals("VERIFIED", verified.path("integrity").asText());
        assertFalse(verified.path("authorship").path("trusted").asBoolean(true));
        assertTrue(there.run("output", run).expect(0).out().startsWith("travelled\n"));
        assertEquals(
                0,
                there.run("query", "SELECT count(*) AS n FROM events", "--format", "json")
                        .expect(0)
                        .saying("no key that is trusted here")
                        .json()
                        .path(0)
                        .path("n")
                        .asInt(-1));

        JsonNode replayed = there.run("replay", run, "--json").expect(0).json();
        assertEquals("IDENTICAL", replayed.path("verdict").asText());
        JsonNode verdict = replayed.path("verdicts").path(0);
        assertTrue(verdict.path("signed").asBoolean(), verdict.toString());
        assertTrue(verdict.path("log").asText().startsWith("blackbox/log/"));
        there.run("import", "--identity", identity, file).expect(0);
    }
}
