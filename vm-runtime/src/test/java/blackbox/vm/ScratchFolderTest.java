package blackbox.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchFolderTest {

    @TempDir
    Path parent;

    @Test
    void whatAKilledProcessLeftIsDeletedAndALiveOnesIsNot() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        assertEquals(0, ended.waitFor());
        Path left = Files.createDirectories(parent.resolve(".events-" + ended.pid() + "-1/below"));
        Files.writeString(left.resolve("tape"), "what a run saw");
        Path other = Files.createDirectory(parent.resolve(".replayed-" + ended.pid() + "-1"));
        Process running = new ProcessBuilder("sleep", "600").start();
        Path live = Files.createDirectory(parent.resolve(".events-" + running.pid() + "-1"));
        try (var mine = ScratchFolder.ofThisProcess(parent, ".events-");
                var second = ScratchFolder.ofThisProcess(parent, ".events-")) {
            assertFalse(Files.exists(left.getParent()));
            assertTrue(Files.exists(live) && Files.exists(other));
            assertTrue(Files.exists(mine.path()) && Files.exists(second.path()));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(mine.path())));
        } finally {
            running.destroyForcibly().waitFor();
        }
    }
}
