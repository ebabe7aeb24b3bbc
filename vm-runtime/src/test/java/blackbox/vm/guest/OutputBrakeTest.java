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
    /// A step: as much as may be unread, and then some.
    private static final String FLOOD = "while read -r _; do head -c 17000000 /dev/zero >> flood; done";

    @TempDir
    Path folder;

    private final AtomicLong read = new AtomicLong();

    private final OutputBrake.Output output = new OutputBrake.Output() {
        @Override
        public long unreadBytes() {
            return length(folder.resolve("flood")) - read.get();
        }

        @Override
        public long readBytes() {
            return read.get();
        }
    };

    @Test
    void aFloodWaitsForItsReaderAndThenGoesOn() throws Exception {
        Process flood =
                new ProcessBuilder("sh", "-c", FLOOD).directory(folder.toFile()).start();
        try (OutputBrake _ = OutputBrake.start(flood.toHandle(), new HoldGate(), output);
                var steps = flood.outputWriter()) {
            for (int step = 0; step < 3; step++) {
                steps.write("more\n");
                steps.flush();
                while (!isStopped(flood)) {
                    assertTrue(!flood.waitFor(Duration.ofMillis(1)), "it is not held");
                }
                read.set(length(folder.resolve("flood")));
            }
        }
        assertTrue(flood.waitFor() == 0, "it goes on once all was read");
    }

    /// As one that has ended.
    @Test
    void aReaderThatReadsNothingIsNotWaitedForWithoutEnd() throws Exception {
        Process flood =
                new ProcessBuilder("sh", "-c", FLOOD).directory(folder.toFile()).start();
        try (OutputBrake _ = OutputBrake.start(flood.toHandle(), new HoldGate(), output);
                var steps = flood.outputWriter()) {
            steps.write("more\n");
            steps.flush();
            while (!isStopped(flood)) {
                assertTrue(!flood.waitFor(Duration.ofMillis(1)), "it is not held");
            }
            // Between two holds it runs for a few milliseconds only.
            for (int running = 0; running < 300; running = isStopped(flood) ? 0 : running + 1) {
                assertTrue(!flood.waitFor(Duration.ofMillis(1)), "it waits for the test");
            }
        }
        assertTrue(flood.waitFor() == 0, "it ends");
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
