package blackbox.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchFolderTest {

    @TempDir
    Path parent;

    @Test
    void whatAKilledProcessLeftIsDeletedAndALiveOnesIsNot() throws Exception {
        Process owner = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Owner.class.getName(),
                        parent.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Path other = Files.createDirectory(parent.resolve(".replayed-1"));
        try (var said = new BufferedReader(new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8))) {
            Path theirs = Path.of(String.valueOf(said.readLine()));
            Files.writeString(Files.createDirectory(theirs.resolve("below")).resolve("tape"), "what a run saw");
            try (var mine = ScratchFolder.ofThisProcess(parent, ".events-");
                    var second = ScratchFolder.ofThisProcess(parent, ".events-")) {
                assertTrue(Files.exists(theirs), "its process lives");
                assertTrue(Files.exists(mine.path()) && Files.exists(second.path()));
                assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(mine.path())));
            }
            owner.destroyForcibly().waitFor();
            try (var mine = ScratchFolder.ofThisProcess(parent, ".events-")) {
                assertFalse(Files.exists(theirs));
                assertTrue(Files.exists(mine.path()) && Files.exists(other));
            }
        } finally {
            owner.destroyForcibly();
        }
        try (var left = Files.list(parent)) {
            assertEquals(List.of(other), left.toList());
        }
    }

    /// The number in a name is that of a process here; in another container it may be anybody's.
    @Test
    void aNumberOfAProcessInANameSaysNothing() throws Exception {
        Path left = Files.createDirectory(
                parent.resolve(".events-" + ProcessHandle.current().pid() + "-1"));
        Path young = Files.createDirectory(parent.resolve(".new.events-1"));
        Path old = Files.createDirectory(parent.resolve(".new.events-2"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(120)));
        try (var mine = ScratchFolder.ofThisProcess(parent, ".events-")) {
            assertTrue(Files.exists(mine.path()));
            assertFalse(Files.exists(left), "nobody holds its lock");
            assertTrue(Files.exists(young), "its process may be about to lock it");
            assertFalse(Files.exists(old));
        }
    }

    /// Has a folder until it is killed.
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) throws Exception {
            try (var folder = ScratchFolder.ofThisProcess(Path.of(arguments[0]), ".events-")) {
                System.out.println(folder.path());
                System.out.flush();
                new CountDownLatch(1).await();
            }
        }
    }
}
