package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox diff` over runs that are in the spool.
class DiffCommandTest {

    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final long START_NS = START.getEpochSecond() * 1_000_000_000L;
    private static final String OPENING = """
            {"tier":"live","image":{"name":"default","digest":"IMAGE"},"snapshot":null,"command":["sh"],"environment":[],\
            "user":"agent","network":"none","workspace":{"sha256":"WORKSPACE","bytes":1}RECORDER}""";
    private static final String RECORDER =
            ",\"recorder\":{\"version\":\"1\",\"key\":\"k\",\"certificate\":\"c\",\"outputBytesMax\":1000}";

    @TempDir
    Path data;

    private record Ran(int exitCode, String out) {

        JsonNode json() throws Exception {
            return new ObjectMapper().readTree(out);
        }
    }

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

    /// A shell that reads one file and writes another.
    private String record(int seed, String workspace, String writes, boolean closed) throws Exception {
        return record(seed, workspace, writes, closed, null);
    }

    private String record(int seed, String workspace, String writes, boolean closed, @Nullable String prints)
            throws Exception {
        RunId run = RunId.create(START.plusSeconds(seed), new Random(seed));
        var key = KeyFile.loadOrCreate(data.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(data.resolve("spool"), run), InstantSource.fixed(START));
        var shell = new ProcessRef(100 + seed, 100 + seed, 1, 5_000L + seed, Text.of("sh"), 1000);
        sealer.append(new Event.RunOpen(
                EventHeader.host(START_NS),
                Text.of("run" + seed),
                OPENING.replace("IMAGE", "43".repeat(32))
                        .replace("WORKSPACE", workspace.repeat(32))
                        .replace("RECORDER", prints == null ? "" : RECORDER)));
        sealer.append(new Event.ProcessFork(guest(shell, 1), 1L));
        sealer.append(new Event.ProcessExec(
                guest(shell, 2), Text.of("/usr/bin/dash"), List.of(Text.of("sh")), List.of(), Text.of("/"), 0));
        sealer.append(new Event.FileOpen(guest(shell, 3), Text.of("/workspace/in"), 0, null, false, 0));
        sealer.append(new Event.FileOpen(guest(shell, 4), Text.of(writes), 0101, 0644, true, 0));
        sealer.append(new Event.ProcessExit(guest(shell, 5), 0, null));
        String close = prints == null ? null : print(run, sealer, prints);
        if (closed) {
            sealer.append(new Event.RunClose(EventHeader.host(START_NS), sealer.size(), 0, 0, null, close));
        }
        sealer.seal();
        return run.value();
    }

    /// Keeps what a command printed on standard output; returns the detail of the run's close.
    private String print(RunId run, RunSealer sealer, String text) throws Exception {
        Path folder = Files.createDirectories(new DataFolder(data).captures(run));
        try (var kept = new KeptOutput(folder, 1_000, () -> START_NS)) {
            OutputStream out = kept.through(PrintedStream.STDOUT, OutputStream.nullOutputStream());
            out.write(text.getBytes(StandardCharsets.UTF_8));
            for (CaptureFile file : kept.files()) {
                file.sealNew(() -> START_NS).forEach(sealer::append);
            }
        }
        return "{\"stdout\":{\"bytes\":" + text.length() + ",\"ended\":true},\"stderr\":{\"bytes\":0,\"ended\":true}}";
    }

    private static EventHeader guest(ProcessRef process, long number) {
        return new EventHeader(START_NS, Source.GUEST, new GuestOrigin(0, number), process, Marks.NONE);
    }

    @Test
    void equalRunsAreExit0() throws Exception {
        record(1, "aa", "/workspace/out", true);
        record(2, "aa", "/workspace/out", true);
        Ran ran = run("diff", "run1", "run2", "--json");
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.out());
        assertEquals("EQUIVALENT", ran.json().path("verdict").asText());
        assertEquals("process-numbers", ran.json().path("rules").path(0).asText());
        assertTrue(ran.json().path("firstDivergence").isNull());
        assertEquals(6, ran.json().path("comparedEvents").asLong());
        assertEquals(
                "IDENTICAL",
                run("diff", "run1", "run1", "--json").json().path("verdict").asText());
    }

    @Test
    void runsThatDivergeAreExit1AndExplained() throws Exception {
        String one = record(1, "aa", "/workspace/out", true);
        String other = record(2, "bb", "/workspace/else", true);
        Ran ran = run("diff", "run1", "run2", "--json", "--context", "1");
        assertEquals(ExitCodes.DOES_NOT_HOLD, ran.exitCode(), ran.out());
        JsonNode json = ran.json();
        assertEquals(one, json.path("runs").path(0).asText());
        assertEquals(other, json.path("runs").path(1).asText());
        assertEquals("DIVERGED", json.path("verdict").asText());
        JsonNode first = json.path("firstDivergence");
        assertEquals(4, first.path("index").asLong());
        assertEquals("IMAGE", first.path("class").asText());
        assertTrue(first.path("expected").asText().contains("/workspace/out"), first::toString);
        assertTrue(first.path("actual").asText().contains("/workspace/else"), first::toString);
        assertTrue(first.path("causes").toString().contains("/workspace/in"), first::toString);
        assertEquals(3, first.path("lastAgreed").path("index").asLong());
        assertEquals(3, first.path("context").path("recorded").size());
        Ran text = run("diff", "run1", "run2");
        assertTrue(text.out().contains("DIVERGED at event 4: IMAGE"), text.out());
    }

    @Test
    void whatWasPrintedIsCompared() throws Exception {
        record(1, "aa", "/workspace/out", true, "the answer is 42\n");
        record(2, "aa", "/workspace/out", true, "the answer is 42\n");
        record(3, "aa", "/workspace/out", true, "the answer is 43\n");
        Ran same = run("diff", "run1", "run2", "--json");
        assertEquals(ExitCodes.OK, same.exitCode(), same.out());
        assertTrue(same.json().path("compared").toString().contains("standard output, 17 octets"), same.out());
        Ran other = run("diff", "run1", "run3", "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, other.exitCode(), other.out());
        assertEquals("DIVERGED", other.json().path("verdict").asText());
        assertEquals(1, other.json().path("effectDifferences").asInt());
        assertEquals("OUTPUT", other.json().path("effects").path(0).path("kind").asText());
        assertEquals(
                "stdout", other.json().path("effects").path(0).path("subject").asText());
        String first = other.json().path("firstDivergence").path("expected").asText();
        assertTrue(first.startsWith("standard output, from byte 15 of 17 on"), other.out());
        record(4, "aa", "/workspace/out", true);
        Ran unkept = run("diff", "run1", "run4", "--json");
        assertEquals(ExitCodes.OK, unkept.exitCode(), unkept.out());
        assertTrue(unkept.json().path("equivalence").isNull(), unkept.out());
        assertTrue(unkept.json().path("notCompared").toString().contains("did not keep what a command prints"));
    }

    @Test
    void aNameWithANewlineIsEscapedOnce() throws Exception {
        record(1, "aa", "/workspace/a\nb", true);
        record(2, "bb", "/workspace/c\\d", true);
        String text = run("diff", "run1", "run2").out();
        assertTrue(text.contains("/workspace/a\\x0ab") && text.contains("/workspace/c\\x5cd"), text);
        assertFalse(text.contains("\\x5cx"), text);
        JsonNode first = run("diff", "run1", "run2", "--json").json().path("firstDivergence");
        assertTrue(first.path("expected").asText().contains("/workspace/a\nb"), first::toString);
        assertTrue(first.path("actual").asText().contains("/workspace/c\\d"), first::toString);
        String events = run("events", "run1").out();
        assertTrue(events.contains("/workspace/a\\x0ab"), events);
        assertTrue(run("events", "run2").out().contains("/workspace/c\\x5cd"));
    }

    @Test
    void anIncompleteRunIsReportedAsSuch() throws Exception {
        record(1, "aa", "/workspace/out", true);
        record(2, "aa", "/workspace/out", false);
        Ran ran = run("diff", "run1", "run2", "--json");
        assertEquals(ExitCodes.DOES_NOT_HOLD, ran.exitCode(), ran.out());
        assertEquals("INCOMPLETE", ran.json().path("verdict").asText());
        assertEquals(
                "TRUNCATED", ran.json().path("states").path(1).path("state").asText());
        assertTrue(run("diff", "run1", "run2").out().contains("not complete: TRUNCATED"));
    }

    @Test
    void badInputIsExit2() throws Exception {
        record(1, "aa", "/workspace/out", true);
        assertEquals(ExitCodes.BAD_INPUT, run("diff", "run1", "nope").exitCode());
        assertEquals(
                ExitCodes.BAD_INPUT,
                run("diff", "run1", "run1", "--context", "-1").exitCode());
        assertEquals(ExitCodes.BAD_INPUT, run("diff", "run1").exitCode());
    }
}
