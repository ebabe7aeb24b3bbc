package blackbox.vm.confine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a process in a box finds at a path.
final class BoxTest {
    private static final Path COPY = Path.of("/usr/bin/cp");

    @TempDir
    private Path folder;

    /// A replay of an older recording can read the captured RAM, and gets a copy of it at the same path to write.
    @Test
    void whatIsSaidLaterOfAPathHolds() throws Exception {
        Path here = Files.createDirectory(folder.toRealPath().resolve("box"));
        Files.writeString(here.resolve("new"), "new");
        Path sealed = Files.writeString(folder.resolve("sealed"), "sealed");
        Path own = Files.writeString(folder.resolve("own"), "own");
        Box box = Box.in(here).libraries().installed(COPY).readable(sealed).writable(own, sealed);

        Path errors = folder.resolve("errors");
        Process process = box.start(List.of(COPY.toString(), "new", sealed.toString()), errors);
        assertTrue(process.waitFor(Duration.ofMinutes(1)));
        box.end();

        assertEquals(0, process.exitValue(), Files.readString(errors));
        assertEquals("sealed", Files.readString(sealed));
        assertEquals("new", Files.readString(own));
    }
}
