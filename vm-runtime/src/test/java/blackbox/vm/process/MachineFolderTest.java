package blackbox.vm.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineFolderTest {

    @TempDir
    Path data;

    /// Linux releases a process's lock as soon as the process closes any descriptor of the file, so checking
    /// whether a folder is free must not open the locks of this process's own machines.
    @Test
    void lookingForLeftoversReleasesNoLockOfThisProcess() throws Exception {
        Path path;
        try (var machine = MachineFolder.create(data)) {
            path = machine.path();
            assertTrue(isLocked(path));
            assertEquals(0, MachineFolder.clearLeftovers(data));
            assertTrue(isLocked(path), "another process would clear it now");
        }
        assertFalse(Files.exists(path));
    }

    /// Whether the kernel has a lock on the folder's file, whoever holds it.
    private static boolean isLocked(Path folder) throws IOException {
        String inode = ":" + Files.getAttribute(folder.resolve("lock"), "unix:ino") + " ";
        return Files.readAllLines(Path.of("/proc/locks")).stream().anyMatch(line -> line.contains(inode));
    }
}
