package blackbox.vm.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.LineReader;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.process.MachineFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// What a run that was killed leaves is found and cleared by the next one; what is alive is left alone.
class LeftoversTest {

    @Test
    void theNextStartClearsWhatAKilledRunLeft() throws Exception {
        var test = TestHost.open();
        test.host().snapshot(test.request(VmRequest.Start.WARM, Network.NONE, null));
        try (var alive = test.start()) {
            Process child = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "-Dblackbox.test.data=" + test.data(),
                            CrashingRun.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String said = new LineReader(child.getInputStream(), 4096).next();
            Path folder = Path.of(said == null ? "?" : said);
            assertTrue(Files.isDirectory(folder), "the child runs a machine in " + folder);
            Path sockets = folder.resolve("sockets").toRealPath();
            ProcessHandle qemu = processIn(folder).orElseThrow();
            child.destroyForcibly().waitFor();

            assertEquals(1, MachineFolder.clearLeftovers(test.data()));

            qemu.onExit().get(20, TimeUnit.SECONDS);
            assertFalse(Files.exists(folder));
            assertFalse(Files.exists(sockets));
            assertTrue(alive.alive());
            assertEquals("still here\n", TestHost.run(alive, "echo still here").out());
            assertTrue(alive.powerOff(Duration.ofSeconds(30)));
        }
    }

    private static java.util.Optional<ProcessHandle> processIn(Path folder) {
        return ProcessHandle.allProcesses()
                .filter(process -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc/" + process.pid() + "/cwd"))
                                .equals(folder);
                    } catch (java.io.IOException e) {
                        return false;
                    }
                })
                .findFirst();
    }

    /// Starts a machine, says where it is and waits to be killed.
    static final class CrashingRun {
        private CrashingRun() {}

        public static void main(String[] arguments) throws Exception {
            var machine = TestHost.open().start();
            System.out.println(machine.console().getParent());
            System.out.flush();
            machine.awaitExit(Duration.ofMinutes(5));
        }
    }
}
