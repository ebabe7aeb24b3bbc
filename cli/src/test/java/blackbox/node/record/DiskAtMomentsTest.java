package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import blackbox.replay.Moment;
import blackbox.replay.capture.Payload;
import blackbox.replay.disk.DiskAt;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The disk as it was at a moment, compared with what the guest itself reported at that moment.
class DiskAtMomentsTest {
    private static final int MOMENTS = 20;
    private static final List<String> ROOTS = List.of("/root/tree", "/etc/apt", "/usr/share/base-files");

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @Test
    void theDiskEqualsTheGuestsOwnTarOfThatMoment() throws Exception {
        long seed = new Random().nextInt(1_000_000);
        String script;
        try (var in = DiskAtMomentsTest.class.getResourceAsStream("/record/changing-tree.py")) {
            script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        Ended ended = blackbox.run(
                        "record",
                        // An exact recording seals its disk's log every second and a half: the script's wait would
                        // be too short now and then.
                        "--tier",
                        "live",
                        "--json",
                        "--name",
                        "changing",
                        "--user",
                        "root",
                        "--",
                        "python3",
                        "-c",
                        script,
                        Long.toString(seed),
                        Integer.toString(MOMENTS))
                .expect(0);
        var run = new RunId(ended.recorded().path("run").asText());
        List<Long> moments = moments(run);
        assertEquals(MOMENTS, moments.size());
        List<String> lines = ended.out().lines().toList();
        for (int i = 0; i < MOMENTS; i++) {
            Path tree = unpack(i, lines.get(i));
            try (DiskAt disk = DiskAt.open(recordings(), run, new Moment.AtEvent(moments.get(i)))) {
                assertTrue(disk.shown().whole());
                for (String root : ROOTS) {
                    assertEquals(
                            TreeState.of(tree, root).toString().replace(", /", "\n/"),
                            TreeState.of(disk.tree(), root).toString().replace(", /", "\n/"),
                            "seed " + seed + ", moment " + i + " at event " + moments.get(i));
                }
            }
        }
        answersNameTheLastWriter(run, moments.getLast());
        damageIsDetectedOrReported(run, moments);
    }

    private static Recordings recordings() {
        return Recordings.unchecked(blackbox.data());
    }

    /// The events that the guest's script makes for us.
    private static List<Long> moments(RunId run) throws Exception {
        var moments = new ArrayList<Long>();
        String events = blackbox.run("events", run.value(), "--json", "--kind", "process.exec")
                .expect(0)
                .out();
        for (String line : events.lines().toList()) {
            JsonNode event = new ObjectMapper().readTree(line);
            if (event.path("argv").path(1).asText().equals("moment")) {
                assertEquals(moments.size(), event.path("argv").path(2).asInt());
                moments.add(event.path("index").asLong());
            }
        }
        return moments;
    }

    private static Path unpack(int moment, String line) throws IOException, InterruptedException {
        String[] words = line.split(" ", 2);
        assertEquals(Integer.toString(moment), words[0]);
        Path tree = Files.createDirectory(folder.resolve("tree-" + moment));
        Path tar = Files.write(folder.resolve("tree.tar"), Base64.getDecoder().decode(words[1]));
        Process unpacking = new ProcessBuilder(
                        "tar", "-xpf", tar.toString(), "--numeric-owner", "--same-owner", "-C", tree.toString())
                .inheritIO()
                .start();
        assertEquals(0, unpacking.waitFor());
        return tree;
    }

    private static void answersNameTheLastWriter(RunId run, long moment) throws Exception {
        JsonNode answer =
                disk(run, moment, "--json", "--list", "/root/tree").expect(0).json();
        assertEquals(moment, answer.path("at").path("index").asLong());
        assertTrue(answer.path("disk").path("whole").asBoolean());
        assertFalse(answer.path("limits").isEmpty());
        assertFalse(answer.path("entries").isEmpty());
        for (JsonNode entry : answer.path("entries")) {
            JsonNode write = entry.path("lastWrite");
            assertTrue(write.path("kind").asText().startsWith("file."), entry::toString);
            assertTrue(write.path("index").asLong() < moment, entry::toString);
            assertEquals("python3", write.path("process").path("comm").asText(), entry::toString);
        }
        disk(run, moment, "--list", "/root/nothing").expect(2).saying("there was no '/root/nothing'");
        disk(run, moment, "--cat", "/root/tree").expect(2).saying("was a folder then");
        blackbox.run("disk", run.value(), "--at", "nonsense", "--list", "/")
                .expect(2)
                .saying("is not a moment");
        blackbox.run("disk", run.value(), "--at", "99999999", "--list", "/")
                .expect(2)
                .saying("no such moment");
    }

    private static void damageIsDetectedOrReported(RunId run, List<Long> moments) throws Exception {
        var payload = Payload.of(recordings(), run, "blocks");
        Path blocks = payload.file();
        byte[] whole = Files.readAllBytes(blocks);
        byte[] changed = whole.clone();
        changed[1_000] ^= 1;
        Files.write(blocks, changed);
        disk(run, moments.getLast(), "--list", "/").expect(1).saying("is not what was stored");
        Files.write(blocks, whole);
        // By somebody who has the key.
        byte[] writes;
        try (InputStream in = payload.stream()) {
            writes = in.readAllBytes();
        }
        writes[1_000] ^= 1;
        Files.write(blocks.resolveSibling("blocks"), writes);
        payload.vault().encrypt(run, _ -> {});
        disk(run, moments.getLast(), "--list", "/").expect(1).saying("is not what was sealed");
        Files.write(blocks, java.util.Arrays.copyOf(whole, whole.length / 2));
        Ended cut = disk(run, moments.getLast(), "--json", "--list", "/root").expect(1);
        assertFalse(cut.json().path("disk").path("whole").asBoolean());
        assertTrue(cut.json().path("limits").path(0).asText().contains("is truncated at octet"), cut::out);
        disk(run, moments.getFirst(), "--list", "/root/tree").expect(0);
        Files.write(blocks, whole);
        Path base = blocks.resolveSibling("base.qcow2");
        byte[] image = Files.readAllBytes(base);
        Files.delete(base);
        disk(run, moments.getFirst(), "--list", "/").expect(1).saying("base.qcow2 is missing");
        image[image.length / 2] ^= 1;
        Files.write(base, image);
        disk(run, moments.getFirst(), "--list", "/").expect(1).saying("is not what the run sealed");
    }

    private static Ended disk(RunId run, long moment, String... what) throws Exception {
        var arguments = new ArrayList<>(List.of("disk", run.value(), "--at", Long.toString(moment)));
        arguments.addAll(List.of(what));
        return blackbox.run(arguments.toArray(String[]::new));
    }

    @Test
    void aFullLogEndsAndTheRunContinues() throws Exception {
        String script =
                "for i in 1 2 3 4 5 6; do head -c 1000000 /dev/urandom > /root/f$i; sync; sleep 1; done; echo on";
        Ended ended = blackbox.run(
                        "record",
                        "--json",
                        "--name",
                        "full",
                        "--user",
                        "root",
                        "--disk-log-max",
                        "2M",
                        "--",
                        "sh",
                        "-c",
                        script)
                .expect(0);
        assertEquals("on\n", ended.out());
        var run = new RunId(ended.recorded().path("run").asText());
        assertEquals(2 << 20, Payload.of(recordings(), run, "blocks").size());
        blackbox.run("verify", run.value()).expect(0);
        long last = ended.recorded().path("events").asLong() - 1;
        String said = disk(run, last, "--list", "/root")
                .expect(2)
                .saying("--disk-log-max")
                .err();
        long shown = Long.parseLong(said.strip().substring(said.strip().lastIndexOf(' ') + 1));
        disk(run, shown, "--list", "/root/f1").expect(0);
    }

    @Test
    void aKilledRecorderLeavesTheDiskAsFarAsItWasSealed() throws Exception {
        String script = "echo kept > /root/kept; sync; sleep 3; echo up; while :; do date > /root/more; sync; done";
        Running running = blackbox.start("record", "--name", "cut-off", "--user", "root", "--", "sh", "-c", script);
        running.awaitOutput();
        running.process().destroyForcibly().waitFor();
        blackbox.run("record", "--", "true").expect(0).saying("cleaned up after 1 crashed run");
        JsonNode verified =
                blackbox.run("verify", "cut-off", "--json").expect(1).json();
        assertEquals("TRUNCATED", verified.path("completeness").asText());
        long last = verified.path("events").asLong() - 1;
        Ended ended = blackbox.run("disk", "cut-off", "--at", Long.toString(last), "--cat", "/root/kept")
                .expect(0)
                .saying("the recorder ended before the run was closed");
        assertEquals("kept\n", ended.out());
    }
}
