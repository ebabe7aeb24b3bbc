package blackbox.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.files.AtomicFiles.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AtomicFilesTest {
    private static final byte[] OLD = "old".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NEW = "new, and longer".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    @Test
    void afileIsReplacedInFourStepsOfWhichTheLastIsItsFolder() throws IOException {
        Path file = folder.resolve("a/b/file");
        var steps = new ArrayList<Step>();
        AtomicFiles files = AtomicFiles.watchedBy(steps::add);
        assertNull(files.read(file, 100));
        files.replace(file, OLD);
        files.replace(file, NEW);
        assertArrayEquals(NEW, files.read(file, 100));
        assertEquals(List.of(Step.WRITTEN, Step.RENAMED, Step.SYNCED, Step.WRITTEN, Step.RENAMED, Step.SYNCED), steps);
        assertEquals(List.of("file"), names(folder.resolve("a/b")));
        assertThrows(IOException.class, () -> files.read(file, NEW.length - 1));
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void acrashLeavesTheOldFileOrTheNewOne(Step crash) throws IOException {
        Path file = folder.resolve("file");
        AtomicFiles.onDisk().replace(file, OLD);
        AtomicFiles crashing = AtomicFiles.watchedBy(step -> {
            if (step == crash) {
                throw new IOException("crash");
            }
        });
        assertThrows(IOException.class, () -> crashing.replace(file, NEW));
        assertArrayEquals(crash == Step.WRITTEN ? OLD : NEW, Files.readAllBytes(file));
        AtomicFiles.onDisk().replace(file, NEW);
        assertEquals(List.of("file"), names(folder), "what the crash left is used up");
    }

    @Test
    void whatACrashLeftDoesNotDecideOnPermissions() throws IOException {
        Path file = folder.resolve("secret");
        Path left = folder.resolve(".secret.new");
        Files.writeString(left, "left");
        Files.setPosixFilePermissions(left, PosixFilePermissions.fromString("rw-rw-rw-"));
        var seen = new ArrayList<String>();
        AtomicFiles files = AtomicFiles.watchedBy(step -> seen.add(permissions(step == Step.WRITTEN ? left : file)));
        files.replace(file, NEW, PosixFilePermissions.fromString("rw-------"));
        assertEquals(List.of("rw-------", "rw-------", "rw-------"), seen);
        files.replace(file, NEW, PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals("rw-r--r--", permissions(file));
    }

    @Test
    void whatIsStagedGetsItsNameWhole() throws IOException {
        Path staged = folder.resolve("staged");
        Path file = folder.resolve("file");
        AtomicFiles.stage(staged, NEW);
        AtomicFiles.stage(staged, OLD);
        AtomicFiles.put(staged, file);
        assertArrayEquals(OLD, Files.readAllBytes(file));
        assertEquals(List.of("file"), names(folder));
        AtomicFiles.delete(file);
        AtomicFiles.delete(file);
        assertFalse(Files.exists(file));
        assertThrows(NoSuchFileException.class, () -> AtomicFiles.put(staged, file));
    }

    @Test
    void afolderIsMadeWithThoseAboveItAndOnlyWhereNothingIsInItsPlace() throws IOException {
        Folders.create(folder.resolve("a/b"));
        Folders.create(folder.resolve("a/b"));
        assertEquals(List.of("b"), names(folder.resolve("a")));
        Path file = Files.createFile(folder.resolve("file"));
        assertThrows(IOException.class, () -> Folders.create(file));
        assertThrows(IOException.class, () -> Folders.create(file.resolve("below")));
        assertThrows(IOException.class, () -> Folders.sync(folder.resolve("missing")));
    }

    private static String permissions(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }
}
