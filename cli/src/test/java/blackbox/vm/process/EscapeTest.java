package blackbox.vm.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.OrdinaryUser;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A guest that has taken QEMU over finds its own files, and nothing else of the host.
final class EscapeTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String MAIN = "blackbox.vm.process.EscapedQemu";
    private static final int ATTEMPTS_MIN = 100;

    /// What must work, or nothing above was tried from QEMU's place.
    private static final List<String> OWN =
            List.of("use state.disk", "use workspace-out.disk", "use capture/blocks", "use its socket");

    @TempDir
    private Path folder;

    @Test
    void asThisUserItFindsNothing() throws Exception {
        var builder = new ProcessBuilder(java(System.getProperty("java.class.path"), folder.resolve("data")));
        builder.redirectErrorStream(true);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        check(said);
    }

    @Test
    void asAnOrdinaryUserItFindsNothing() throws Exception {
        try (var user = OrdinaryUser.make()) {
            String classes = user.classPath();
            var ended = user.run(user.command(inUtf8(java(classes, user.data()))), PATIENCE);
            assertEquals(0, ended.exitCode(), ended::said);
            check(ended.said());
        }
    }

    /// QEMU writes its disk's header, and could name any file of the host's there as the one with the disk's octets.
    @Test
    void aDiskThatNamesAnotherFileAsItsOwnIsNotCopied() throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "a secret".repeat(8192));
        Path snapshot = Files.createDirectory(folder.resolve("snapshot"));
        Command.of("qemu-img", "create", "-q", "-f", "qcow2", QemuArguments.BASE_STATE, "64K")
                .in(snapshot)
                .run();
        Path target = folder.resolve("copy");
        try (var machine = MachineFolder.create(folder.resolve("data"))) {
            machine.link(QemuArguments.SNAPSHOT, snapshot);
            Command.of("qemu-img", "create", "-q", "-f", "qcow2", QemuArguments.STATE, "64K")
                    .in(machine.path())
                    .run();
            StateDisk.OVERLAY.copy(machine, target);
            assertEquals(64 << 10, Files.size(target), "one that does not");
            Files.delete(target);
            Files.delete(machine.file(QemuArguments.STATE));
            String options = "data_file=" + secret + ",data_file_raw=on";
            Command.of("qemu-img", "create", "-q", "-f", "qcow2", "-o", options, QemuArguments.STATE, "64K")
                    .in(machine.path())
                    .run();

            var refused = assertThrows(VmException.class, () -> StateDisk.OVERLAY.copy(machine, target));

            assertTrue(refused.getMessage().contains("secret"), refused::getMessage);
            assertFalse(Files.exists(target));
        }
    }

    private static List<String> java(String classes, Path data) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes,
                MAIN,
                data.toString());
    }

    /// The JVM decodes paths by the locale.
    private static String[] inUtf8(List<String> command) {
        return Stream.concat(Stream.of("env", "LC_ALL=C.UTF-8"), command.stream())
                .toArray(String[]::new);
    }

    private static void check(String said) throws Exception {
        Map<String, String> got = new TreeMap<>();
        var refused = new ArrayList<String>();
        String end = null;
        for (String line : said.lines().filter(each -> each.startsWith("{")).toList()) {
            JsonNode attempt = new ObjectMapper().readTree(line);
            if (attempt.has("exit")) {
                end = line;
            } else if (attempt.path("refused").isNull()) {
                got.put(attempt.path("attempt").asText(), attempt.path("got").asText());
            } else {
                refused.add(attempt.path("attempt").asText());
            }
        }
        assertEquals("{\"exit\":0,\"said\":\"\"}", end, said);
        for (String each : OWN) {
            assertTrue(got.remove(each) != null, () -> each + " did not work:\n" + said);
        }
        assertEquals(Map.of(), got, said);
        assertTrue(refused.size() >= ATTEMPTS_MIN, () -> refused.size() + " attempts");
    }
}
