package blackbox.node.verdict;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The machine that a verdict is made on.
final class Host {

    private static final Path NAME = Path.of("/proc/sys/kernel/hostname");

    private Host() {}

    /// Its name, as the kernel has it; a hint for people, which nothing vouches for.
    static String name() {
        try {
            return Files.readString(NAME).strip();
        } catch (IOException _) {
            return "unknown";
        }
    }
}
