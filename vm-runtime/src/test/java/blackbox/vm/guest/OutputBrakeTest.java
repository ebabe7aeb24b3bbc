package blackbox.vm.guest;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that writes to a file faster than it is read waits for its reader.
@Timeout(120)
class OutputBrakeTest {
    private static final String FLOOD = "exec dd if=/dev/zero of=flood bs=64k count=16k status=none";

    @TempDir
    Path folder;

    /// It may run on for as long as the brake takes to look and to stop it.
    private static final long SLACK_BYTES = 512L << 20;

    @Test
    void aFloodWaitsForItsReaderAndThenGoesOn() throws Exception {
        Process flood =
                new ProcessBuilder("sh", "-c", FLOOD).directory(folder.toFile()).start();
        Path file = folder.resolve("flood");
        var read = new AtomicLong();
        try (OutputBrake _ = OutputBrake.start(flood.toHandle(), () -> length(file) - read.get())) {
            while (!isStopped(flood)) {
                assertTrue(!flood.waitFor(Duration.ofMillis(1)), "it wrote all of it unread");
            }
            long held = length(file);
            assertTrue(held < OutputBrake.UNREAD_BYTES_MAX + SLACK_BYTES, () -> held + " octets unread");
            while (!flood.waitFor(Duration.ofMillis(1))) {
                read.set(length(file));
            }
            assertTrue(flood.exitValue() == 0, "it goes on once all was read");
        } finally {
            flood.destroyForcibly();
        }
    }

    private static long length(Path file) {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean isStopped(Process process) throws Exception {
        Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
        String line = Files.exists(stat) ? Files.readString(stat) : ")";
        return line.startsWith(" T", line.lastIndexOf(')') + 1);
    }
}
