package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.Folders;
import blackbox.node.record.Installation.Ended;
import blackbox.vm.image.GuestFiles;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A tracer that ends before its time. No agent can end it ([TracerAttackTest]), so process 1 of this image
/// does so where the agent asks for it; all else is as it always is.
final class TracerEndedTest {

    private static final String HOOK = "        os.close(to_tracer)\n        os.close(from_tracer)\n";
    /// Where the agent's root is for process 1 (`boot.py`).
    private static final String ENDS = """
                    def look(number, frame):
                        if self.pid and (os.path.exists('/mnt/tmp/end-all')
                                or not self.succeeded and os.path.exists('/mnt/tmp/end-one')):
                            try:
                                os.kill(self.pid, 9)
                            except ProcessLookupError:
                                pass
                    signal.signal(signal.SIGALRM, look)
                    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
            """;

    /// Replaces what the next tracer and `tar` would be executed from, if that were its own files. Never ends by
    /// itself, and never pauses.
    private static final String AGENT = """
            import os, sys
            for path in ('/usr/bin/python3', '/usr/bin/tar', '/usr/lib/x86_64-linux-gnu/libc.so.6'):
                with open('/planted', 'w') as file:
                    file.write('#!/bin/busybox sh\\necho planted >>/workspace/planted\\n')
                os.chmod('/planted', 0o755)
                os.rename('/planted', path)
            made = 0
            while True:
                with open('/workspace/%05d' % made, 'w') as file:
                    file.write('x')
                made += 1
                if made == 50:
                    open('/tmp/' + sys.argv[1], 'w').close()
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;
    private static Path changed;

    /// A data folder with an image of its own, for its process 1 is another one.
    @BeforeAll
    static void install() throws Exception {
        Path shared = Installation.shared();
        Path data = folder.resolve("data");
        Folders.createPrivate(data);
        for (String each : List.of("archive", "qemu")) {
            Files.createSymbolicLink(data.resolve(each), shared.resolve(each));
        }
        copy(shared.resolve("images"), data.resolve("images"));
        // What was compiled for these images: the tracer's own files are not changed.
        Files.createDirectories(data.resolve("cache"));
        try (DirectoryStream<Path> compiled = Files.newDirectoryStream(shared.resolve("cache"), "compiled-*")) {
            for (Path each : compiled) {
                Files.copy(each, data.resolve("cache").resolve(each.getFileName()));
            }
        }
        blackbox = new Installation(folder);
        String name = "blackbox/vm/guest/init.py";
        try (InputStream in = Objects.requireNonNull(GuestFiles.class.getResourceAsStream("/" + name))) {
            String source = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(source.contains(HOOK));
            changed = folder.resolve("changed");
            Files.createDirectories(changed.resolve(name).getParent());
            Files.writeString(changed.resolve(name), source.replace(HOOK, HOOK + ENDS));
        }
    }

    private static void copy(Path from, Path to) throws Exception {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
    }

    /// The class loader looks there first.
    private static Ended record(String endOf) throws Exception {
        var command = new ArrayList<>(Installation.command(
                "record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", AGENT, endOf));
        command.add(1, "-Xbootclasspath/a:" + changed);
        return blackbox.start(new ProcessBuilder(command)
                        .redirectInput(Path.of("/dev/null").toFile()))
                .await();
    }

    private static List<String> findings(String run) throws Exception {
        return blackbox.events(run, "recorder.finding").stream()
                .map(each -> each.path("what").asText())
                .toList();
    }

    /// What the agent did until it was frozen is in the record to the last event.
    @Test
    void theAgentIsFrozenAndNothingIsLost() throws Exception {
        Ended ended = record("end-one").expect(125).saying("the guest's tracer ended (signal 9)");
        String run = ended.recorded().path("run").asText();
        List<JsonNode> findings = new ArrayList<>(blackbox.events(run, "recorder.finding"));
        // A busy host may need longer for the next tracer than a guest may be quiet, and that is said as well.
        findings.removeIf(each ->
                List.of("GUEST_SILENT", "GUEST_BACK").contains(each.path("what").asText()));
        assertEquals(1, findings.size(), findings::toString);
        assertEquals("TRACER_ENDED", findings.getFirst().path("what").asText());
        long frozenAfter =
                findings.getFirst().path("detail").path("frozenAfterNs").asLong(-1);
        assertTrue(frozenAfter >= 0, () -> "the kernel said that the agent was frozen, after " + frozenAfter + " ns");
        var created = new HashSet<String>();
        for (JsonNode opened : blackbox.events(run, "file.open")) {
            if (opened.path("created").asBoolean()) {
                created.add(opened.path("path").asText());
            }
        }
        try (Stream<Path> left =
                Files.list(blackbox.data().resolve("workspaces").resolve(run))) {
            List<String> files =
                    left.map(each -> "/workspace/" + each.getFileName()).toList();
            assertTrue(files.size() >= 50, files::toString);
            assertFalse(files.contains("/workspace/planted"));
            assertTrue(created.containsAll(files), () -> "all of " + files + " in " + created);
        }
        blackbox.verifyComplete(run);
        System.err.println("record test: " + blackbox.events(run, "recorder.finding"));
    }

    @Test
    void aSecondOneThatEndsLeavesTheRestUnknown() throws Exception {
        Ended ended = record("end-all").expect(125);
        String run = ended.recorded().path("run").asText();
        List<String> findings = findings(run);
        assertTrue(findings.contains("TRACER_ENDED") && findings.contains("TRACER_UNFINISHED"), findings::toString);
        JsonNode verified = blackbox.run("verify", run, "--json").expect(1).json();
        assertEquals("UNKNOWN", verified.path("completeness").asText());
        assertFalse(verified.path("unknownFrom").isNull());
    }
}
