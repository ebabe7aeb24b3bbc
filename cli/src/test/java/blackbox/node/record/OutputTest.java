package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.ProcessLock;
import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What a command prints is kept octet for octet with its times, in both tiers, and `output` gives it back or
/// says what is missing.
final class OutputTest {

    private static final int PATIENCE_SECONDS = 300;

    /// Writes to both streams in turn, with pauses in which the host receives each piece by itself; binary, 64
    /// KiB.
    private static final String IN_TURN = """
            import os, time
            def say(fd, octets):
                while octets:
                    octets = octets[os.write(fd, octets):]
                time.sleep(0.2)
            say(1, b"1")
            say(2, b"\\x00\\xff2")
            say(1, bytes((i * 7 + i // 256) % 256 for i in range(65536)))
            say(2, b"4\\n")
            say(1, b"5\\n")
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static byte[] pattern() {
        var octets = new byte[65_536];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) (i * 7 + i / 256);
        }
        return octets;
    }

    /// How a command ended whose standard output may be no text.
    private record Printed(int exitCode, byte[] out, String err) {
        Printed expect(int code) {
            assertEquals(code, exitCode, err);
            return this;
        }
    }

    private static Printed run(String... arguments) throws Exception {
        return await(blackbox.start(arguments));
    }

    private static Printed await(Running running) throws Exception {
        assertTrue(running.process().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
        return new Printed(
                running.process().exitValue(),
                Files.readAllBytes(running.out()),
                new String(Files.readAllBytes(running.err()), StandardCharsets.UTF_8));
    }

    private static String id(Printed recorded) throws Exception {
        List<String> lines = recorded.err().strip().lines().toList();
        return new ObjectMapper().readTree(lines.getLast()).path("run").asText();
    }

    /// The objects of `output --json`: pieces, and then the last one.
    private static List<JsonNode> objects(String text) throws Exception {
        var objects = new ArrayList<JsonNode>();
        for (String line : text.lines().toList()) {
            objects.add(new ObjectMapper().readTree(line));
        }
        return objects;
    }

    private static byte[] octets(List<JsonNode> pieces) throws Exception {
        var octets = new ByteArrayOutputStream();
        for (JsonNode piece : pieces) {
            byte[] these = piece.has("text")
                    ? piece.path("text").asText().getBytes(StandardCharsets.UTF_8)
                    : Base64.getDecoder().decode(piece.path("base64").asText());
            assertEquals(piece.path("bytes").asInt(), these.length);
            octets.write(these);
        }
        return octets.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void whatWasPrintedComesBackOctetForOctetAndInOrder(String tier) throws Exception {
        Printed recorded = run("record", "--json", "--tier", tier, "--", "python3", "-c", IN_TURN)
                .expect(0);
        byte[] out = joined(new byte[] {'1'}, pattern(), new byte[] {'5', '\n'});
        assertArrayEquals(out, recorded.out(), "it was also passed on");
        String run = id(recorded);
        assertArrayEquals(out, run("output", run).expect(0).out());
        byte[] err = {0, (byte) 0xff, '2', '4', '\n'};
        assertArrayEquals(err, run("output", run, "--stderr").expect(0).out());
        byte[] both = joined(new byte[] {'1', 0, (byte) 0xff, '2'}, pattern(), new byte[] {'4', '\n', '5', '\n'});
        assertArrayEquals(
                both, run("output", run, "--stdout", "--stderr").expect(0).out());

        Ended said =
                blackbox.run("output", run, "--stdout", "--stderr", "--json").expect(0);
        List<JsonNode> objects = objects(said.out());
        List<JsonNode> pieces = objects.subList(0, objects.size() - 1);
        assertArrayEquals(both, octets(pieces));
        JsonNode summary = blackbox.run("show", run, "--json").expect(0).json();
        Instant before = Instant.parse(summary.path("startedAt").asText());
        for (JsonNode piece : pieces) {
            Instant at = Instant.parse(piece.path("at").asText());
            assertFalse(at.isBefore(before), said::out);
            before = at;
        }
        assertFalse(before.isAfter(Instant.parse(summary.path("endedAt").asText())), said::out);
        JsonNode end = objects.getLast();
        assertEquals("CLOSED", end.path("state").asText());
        assertEquals("[]", end.path("limits").toString());
        assertEquals(
                "{\"stream\":\"stdout\",\"bytes\":65539,\"printed\":65539}",
                end.path("streams").path(0).toString());
        assertEquals("", said.err());
        blackbox.run("verify", run).expect(0);
    }

    @ParameterizedTest
    @CsvSource({"live, 1", "exact, 65536", "live, 104857600"})
    void anyAmountComesBack(String tier, int size) throws Exception {
        var command = Installation.command(
                "record", "--tier", tier, "--output-max", "100M", "--", "head", "-c", "" + size, "/dev/zero");
        Running recording = blackbox.start(new ProcessBuilder(command).redirectInput(new File("/dev/null")));
        assertEnds(recording);
        Running showing = blackbox.start("output", "last");
        assertEnds(showing);
        assertEquals(size, Files.size(showing.out()));
        assertEquals(-1, Files.mismatch(recording.out(), showing.out()));
    }

    /// What it printed may be too much to be read at once.
    private static void assertEnds(Running running) throws Exception {
        assertTrue(running.process().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertEquals(0, running.process().exitValue(), Files.readString(running.err()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void whereTheLimitCutsIsSaidEverywhere(String tier) throws Exception {
        Printed recorded = run(
                "record", "--json", "--tier", tier, "--output-max", "1000", "--", "sh", "-c", "seq 2000; echo end >&2");
        String run = id(recorded.expect(0));
        assertEquals(8_893, recorded.out().length, "all of it is passed on");
        assertTrue(
                recorded.err()
                        .contains("of the 8893 bytes that the command printed on its standard output only the first"
                                + " 1000 are kept; --output-max keeps more"),
                recorded::err);
        Printed cut = run("output", run).expect(1);
        assertArrayEquals(Arrays.copyOf(recorded.out(), 1_000), cut.out());
        assertTrue(
                cut.err().contains("of standard output only the first 1000 bytes are kept, of 8893 that were printed"),
                cut::err);
        assertEquals(
                "end\n", new String(run("output", run, "--stderr").expect(0).out(), StandardCharsets.UTF_8));
        JsonNode end =
                objects(blackbox.run("output", run, "--json").expect(1).out()).getLast();
        assertEquals("CUT", end.path("limits").path(0).path("kind").asText());
        assertEquals("stdout", end.path("limits").path(0).path("stream").asText());
        String events = blackbox.run("events", run, "--json", "--kind", "vm.capture")
                .expect(0)
                .out();
        assertTrue(events.contains("budget"), events);
        blackbox.run("verify", run).expect(0);
        // A replay prints all of it, and only what was kept counts.
        String verdict = blackbox.run("replay", run, "--json").expect(0).out();
        if (tier.equals("live")) {
            assertTrue(verdict.contains("standard output, its first 1000 octets"), verdict);
            assertTrue(verdict.contains("only the first 1000 bytes are kept"), verdict);
        }
    }

    @Test
    void aRunThatKeepsNoneSaysHowToHaveIt() throws Exception {
        String run = id(run("record", "--json", "--output-max", "0", "--", "echo", "gone")
                .expect(0));
        Printed none = run("output", run).expect(1);
        assertEquals(0, none.out().length);
        assertTrue(none.err().contains("--output-max 64M"), none::err);
        JsonNode end =
                objects(blackbox.run("output", run, "--json").expect(1).out()).getLast();
        assertEquals("NOT_RECORDED", end.path("limits").path(0).path("kind").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void atAMomentThereIsWhatHadBeenPrintedByThen(String tier) throws Exception {
        String run = id(run(
                        "record",
                        "--json",
                        "--tier",
                        tier,
                        "--",
                        "sh",
                        "-c",
                        "echo one; sleep 1; mkdir between; sleep 1; echo two")
                .expect(0));
        String made = blackbox.run("events", run, "--json", "--kind", "file.mkdir")
                .expect(0)
                .out();
        JsonNode between = objects(made).stream()
                .filter(event -> event.path("path").asText().endsWith("between"))
                .findFirst()
                .orElseThrow();
        String index = between.path("index").asText();
        assertEquals("one\n", text(run("output", run, "--at", index).expect(0)));
        assertEquals(
                "one\n",
                text(run("output", run, "--at", between.path("at").asText()).expect(0)));
        JsonNode last =
                objects(blackbox.run("output", run, "--json").expect(0).out()).get(1);
        assertEquals("two\n", last.path("text").asText());
        assertEquals(4, last.path("octet").asInt());
        assertEquals(
                "one\ntwo\n",
                text(run("output", run, "--at", last.path("at").asText()).expect(0)));
        assertEquals("", text(run("output", run, "--at", "0").expect(0)));
        blackbox.run("output", run, "--at", "999999").expect(2).saying("has no such moment");
        blackbox.run("output", run, "--at", index, "--follow").expect(2);
    }

    private static String text(Printed printed) {
        return new String(printed.out(), StandardCharsets.UTF_8);
    }

    @Test
    void followingShowsItWhileItIsRecordedAndEndsWithTheRun() throws Exception {
        List<String> command = Installation.command(
                "record",
                "--json",
                "--tier",
                "live",
                "--",
                "sh",
                "-c",
                "echo one; echo err >&2; read line; echo $line");
        Running recording = blackbox.start(new ProcessBuilder(command));
        recording.awaitOutput();
        Running following = blackbox.start("output", "last", "--stdout", "--stderr", "--follow");
        following.awaitOutput();
        assertTrue(recording.process().isAlive());
        Ended now = blackbox.run("output", "last").expect(0).saying("is still being recorded");
        assertTrue(now.out().isEmpty() || now.out().equals("one\n"), now::out);
        assertEquals(
                "OPEN",
                objects(blackbox.run("output", "last", "--json").expect(0).out())
                        .getLast()
                        .path("state")
                        .asText());
        try (OutputStream in = recording.process().getOutputStream()) {
            in.write("two\n".getBytes(StandardCharsets.UTF_8));
        }
        recording.await().expect(0);
        Ended followed = following.await().expect(0);
        assertTrue(List.of("one\nerr\ntwo\n", "err\none\ntwo\n").contains(followed.out()), followed::out);
        assertEquals(
                followed.out(),
                text(run("output", "last", "--stdout", "--stderr").expect(0)));
    }

    /// What was sealed by then is there, octet for octet; the rest is declared.
    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void ofAKilledRecorderWhatIsSealedIsThere(String tier) throws Exception {
        Running recording = blackbox.start(
                "record", "--tier", tier, "--", "sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i; done");
        recording.awaitOutput();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (sealed().isEmpty()) {
            assertTrue(System.nanoTime() < deadline && recording.process().isAlive());
        }
        ProcessHandle qemu = recording.qemu();
        recording.process().destroyForcibly().waitFor();
        Printed left = run("output", "last").expect(1);
        assertTrue(left.err().contains("the recorder ended without closing the run"), left::err);
        assertTrue(left.out().length > 0);
        byte[] passed = Files.readAllBytes(recording.out());
        int common = Math.min(passed.length, left.out().length);
        assertArrayEquals(Arrays.copyOf(passed, common), Arrays.copyOf(left.out(), common));
        assertTrue(text(left).startsWith("line 1\nline 2\n"));
        String run = objects(blackbox.run("runs", "--json").expect(0).out())
                .getFirst()
                .findValuesAsText("run")
                .getLast();
        // The next recording encrypts it, and it is the same.
        blackbox.run("record", "--tier", "live", "--", "true").expect(0);
        assertFalse(qemu.isAlive());
        assertTrue(Files.exists(captured(run, "stdout.enc")));
        assertArrayEquals(left.out(), run("output", run).expect(1).out());
    }

    private static String sealed() throws Exception {
        Ended events = blackbox.run("events", "last", "--kind", "vm.capture", "--json");
        return events.out()
                .lines()
                .filter(line -> line.contains("stdout"))
                .findFirst()
                .orElse("");
    }

    private static Path captured(String run, String name) {
        return blackbox.data().resolve("captures").resolve(run).resolve(name);
    }

    @Test
    void whatWasAlteredIsNotShownAndWhatWasShreddedIsSaidToBe() throws Exception {
        String run = id(run("record", "--json", "--tier", "live", "--", "sh", "-c", "seq 100; echo err >&2")
                .expect(0));
        Path file = captured(run, "stdout.enc");
        byte[] octets = Files.readAllBytes(file);
        byte[] altered = octets.clone();
        altered[octets.length / 2] ^= 1;
        Files.write(file, altered);
        assertEquals("", text(run("output", run).expect(1)));
        assertEquals("", text(run("output", run, "--stdout", "--stderr").expect(1)), "not even the other one");
        assertEquals("", text(run("output", run, "--follow").expect(1)));
        assertEquals("err\n", text(run("output", run, "--stderr").expect(0)));
        String refused = blackbox.run("replay", run, "--json").expect(1).out();
        assertTrue(refused.contains("the captured file stdout, what the command printed"), refused);
        Files.delete(file);
        blackbox.run("output", run).expect(1).saying("is missing");
        Files.write(file, octets);
        run("output", run).expect(0);

        blackbox.run("shred", run, "--reason", "the customer asked").expect(0);
        Ended shredded = blackbox.run("output", run, "--json").expect(1).saying("the customer asked");
        assertEquals(
                "SHREDDED",
                objects(shredded.out())
                        .getLast()
                        .path("limits")
                        .path(0)
                        .path("kind")
                        .asText());
    }

    /// The value of a variable is in no event: the two executions differ in nothing but what they print.
    @Test
    void aReplayThatPrintsSomethingElseIsNotEquivalent() throws Exception {
        String run = id(run(
                        "record",
                        "--json",
                        "--tier",
                        "live",
                        "--env",
                        "WHO=Sk-recorded",
                        "--",
                        "sh",
                        "-c",
                        "echo to $WHO; echo x >&2")
                .expect(0));
        JsonNode same = blackbox.run("replay", run, "--json", "--env", "WHO=Sk-recorded")
                .expect(0)
                .json();
        assertEquals("EQUIVALENT", same.path("verdict").asText());
        List<String> compared = StreamSupport.stream(same.path("compared").spliterator(), false)
                .map(JsonNode::asText)
                .toList();
        assertTrue(compared.contains("standard output, 15 octets"), compared::toString);
        assertTrue(compared.contains("standard error, 2 octets"), compared::toString);
        assertFalse(same.path("notCompared").toString().contains("printed"), same::toString);

        JsonNode other = blackbox.run("replay", run, "--json", "--env", "WHO=Sk-replayed")
                .expect(1)
                .json();
        assertEquals("DIVERGED", other.path("verdict").asText());
        JsonNode difference = other.path("outputDifference");
        assertEquals("stdout", difference.path("stream").asText());
        assertEquals(8, difference.path("octet").asInt());
        assertEquals(15, difference.path("expected").path("bytes").asInt());
        assertEquals("UNEXPLAINED", other.path("firstDivergence").path("class").asText());
        JsonNode at =
                objects(blackbox.run("output", run, "--json").expect(0).out()).getFirst();
        String index = other.path("firstDivergence").path("index").asText();
        assertEquals("", text(run("output", run, "--at", index).expect(0)), "the event is one before it, " + at);
        assertFalse(other.toString().contains("Sk-re"), "what was printed may be secret");
        assertEquals(List.of(), leftOfReplays());
        Ended shown = blackbox.run("show", run, "--printed").expect(0);
        assertTrue(shown.out().contains("to Sk-replayed\\x0a"), shown::out);
        blackbox.run("show", run).expect(0);
    }

    /// Folders of replays that are over. Others may be at work in the same cache beside this test.
    private static List<String> leftOfReplays() throws IOException {
        Path cache = blackbox.data().resolve("cache");
        return blackbox.names("cache").stream()
                .filter(name -> name.startsWith(".printed"))
                .map(name -> cache.resolve(name).resolve("lock"))
                .filter(lock -> Files.exists(lock) && !ProcessLock.isHeld(lock))
                .map(Path::toString)
                .toList();
    }
}
