package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Agents that are root and replace programs, libraries, and the workspace itself. Nothing of it is executed by what
/// watches them and fetches their workspace: they are files of another root.
final class ReplacedProgramsTest {

    /// Everything that `tar`, and Python, would be executed from. A program that takes their place leaves a mark. The
    /// workspace becomes another folder.
    private static final String REPLACES = """
            import os, shutil
            shutil.copy('/bin/busybox', '/busybox')
            def plant(path, content):
                with open('/planted', 'w') as file:
                    file.write(content)
                os.chmod('/planted', 0o755)
                os.rename('/planted', path)
            program = '#!/busybox sh\\necho planted >>/workspace/planted; echo planted >>/planted; exec /busybox "${0##*/}" "$@"\\n'
            for path in ('/usr/local/sbin/tar', '/usr/bin/tar', '/usr/bin/python3', '/usr/bin/python3.11',
                    '/usr/lib/x86_64-linux-gnu/libc.so.6', '/usr/lib/x86_64-linux-gnu/libacl.so.1'):
                plant(path, program)
            plant('/usr/lib/python3.11/json/__init__.py', 'open("/workspace/planted", "w")')
            plant('/usr/lib/python3.11/warnings.py', 'open("/workspace/planted", "w")')
            plant('/etc/ld.so.preload', '/busybox')
            plant('/etc/passwd', '')
            for path in ('/bin', '/sbin', '/lib', '/lib64'):
                os.rename(path, path + '-of-old')
            os.mkdir('/another')
            os.chmod('/another', 0o700)
            os.chown('/another', 1000, 1000)
            with open('/another/file', 'w') as file:
                file.write('another')
            os.symlink('/etc/shadow', '/another/link')
            os.rmdir('/workspace')
            os.rename('/another', '/workspace')
            os.mkdir('/mnt/workspace')
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static Ended asRoot(String program) throws Exception {
        return blackbox.run("record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", program)
                .expect(0);
    }

    /// The run's id, once it has been verified to be complete and to have no findings.
    private static String complete(Ended ended) throws Exception {
        String run = ended.recorded().path("run").asText();
        assertEquals(List.of(), blackbox.events(run, "recorder.finding"));
        blackbox.verifyComplete(run);
        return run;
    }

    private static Path workspace(String run) {
        return blackbox.data().resolve("workspaces").resolve(run);
    }

    @Test
    void noneIsExecutedAndTheWorkspaceIsTheOneThatIsThere() throws Exception {
        String run = complete(asRoot(REPLACES));
        try (Stream<Path> back = Files.list(workspace(run))) {
            assertEquals(
                    List.of("file", "link"),
                    back.map(each -> String.valueOf(each.getFileName()))
                            .sorted()
                            .toList());
        }
        assertEquals("another", Files.readString(workspace(run).resolve("file")));
        assertEquals(
                Path.of("/etc/shadow"), Files.readSymbolicLink(workspace(run).resolve("link")));
        List<JsonNode> executed = blackbox.events(run, "process.exec");
        List<JsonNode> collecting =
                executed.stream().filter(ReplacedProgramsTest::isOfTar).toList();
        assertEquals(1, collecting.size(), executed::toString);
        assertEquals("/usr/bin/tar", collecting.getFirst().path("exe").asText());
        assertTrue(
                executed.stream().noneMatch(each -> each.path("exe").asText().equals("/busybox")), executed::toString);
        // What it has read, it has read by the name that the agent has for it.
        assertTrue(
                blackbox.events(run, "file.open").stream()
                        .anyMatch(each -> each.path("path").asText().equals("/workspace/file")
                                && each.path("process").path("comm").asText().equals("tar")),
                executed::toString);
    }

    private static boolean isOfTar(JsonNode exec) {
        return exec.path("ret").asInt() == 0
                && exec.path("argv").path(0).asText().equals("tar");
    }

    @Test
    void aWorkspaceThatIsALinkIsNotFollowed() throws Exception {
        Ended ended = asRoot("import os; os.rmdir('/workspace'); os.symlink('/proc/1', '/workspace')")
                .saying("the workspace could not be copied back: the guest reports: /workspace is no folder any more");
        assertFalse(Files.exists(workspace(complete(ended))));
    }
}
