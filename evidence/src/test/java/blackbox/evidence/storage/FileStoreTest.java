package blackbox.evidence.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The contract of [FileStore], held against every implementation.
class FileStoreTest {

    private static final byte[] OCTETS = {1, 2, 3, 4, 5, 6, 7};

    @TempDir
    Path folder;

    enum Kept {
        ON_DISK,
        AS_OBJECTS
    }

    private FileStore store(Kept kept) {
        return switch (kept) {
            case ON_DISK -> new LocalStore(folder.resolve("store"));
            case AS_OBJECTS -> new MemoryStore();
        };
    }

    private Path finished(byte... octets) throws IOException {
        return Files.write(Files.createTempFile(folder, "finished", ""), octets);
    }

    private static byte[] read(FileStore store, String key) throws IOException {
        try (StoredFile file = store.open(key)) {
            byte[] octets = file.octets(100);
            return octets == null ? new byte[0] : octets;
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsPutIsThereWhole(Kept kept) throws Exception {
        FileStore store = store(kept);
        assertFalse(store.exists("a/b/c"));
        Path finished = finished(OCTETS);
        store.put("a/b/c", finished);
        assertFalse(Files.exists(finished));
        assertTrue(store.exists("a/b/c"));
        assertFalse(store.exists("a/b"));
        assertArrayEquals(OCTETS, read(store, "a/b/c"));
    }

    @ParameterizedTest
    @EnumSource
    void aKeyIsWrittenOnce(Kept kept) throws Exception {
        FileStore store = store(kept);
        store.put("a/b", finished(OCTETS));
        Path other = finished((byte) 9);
        assertThrows(FileAlreadyExistsException.class, () -> store.put("a/b", other));
        assertArrayEquals(OCTETS, read(store, "a/b"));
        assertTrue(Files.exists(other));
    }

    @ParameterizedTest
    @EnumSource
    void rangesAreReadFromAnywhere(Kept kept) throws Exception {
        FileStore store = store(kept);
        store.put("a/b", finished(OCTETS));
        try (StoredFile file = store.open("a/b")) {
            assertEquals(OCTETS.length, file.size());
            ByteBuffer range = ByteBuffer.allocate(3);
            file.read(4, range);
            assertArrayEquals(new byte[] {5, 6, 7}, range.array());
            file.read(0, range.clear());
            assertArrayEquals(new byte[] {1, 2, 3}, range.array());
            ByteBuffer part = ByteBuffer.allocate(4).position(1).limit(3);
            file.read(1, part);
            assertArrayEquals(new byte[] {0, 2, 3, 0}, part.array());
            file.read(7, ByteBuffer.allocate(0));
            assertThrows(EOFException.class, () -> file.read(5, ByteBuffer.allocate(3)));
            assertNull(file.octets(6));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFolderIsWhatKeysBeginWith(Kept kept) throws Exception {
        FileStore store = store(kept);
        assertEquals(List.of(), store.list("a"));
        for (String key : List.of("a/z", "a/b/c", "a/b/d", "ab/c", "a/y")) {
            store.put(key, finished(OCTETS));
        }
        assertEquals(List.of("b/", "y", "z"), store.list("a"));
        assertEquals(List.of("c", "d"), store.list("a/b"));
        assertEquals(List.of(), store.list("a/z"));
        assertEquals(List.of(), store.list("nowhere/at/all"));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsDeletedIsGone(Kept kept) throws Exception {
        FileStore store = store(kept);
        store.put("a/b", finished(OCTETS));
        try (StoredFile file = store.open("a/b")) {
            store.delete("a/b");
            assertArrayEquals(OCTETS, file.octets(100));
        }
        assertFalse(store.exists("a/b"));
        assertEquals(List.of(), store.list("a"));
        assertThrows(NoSuchFileException.class, () -> store.open("a/b"));
        store.delete("a/b");
    }

    @ParameterizedTest
    @EnumSource
    void noKeyLeadsOutOfTheStore(Kept kept) throws Exception {
        FileStore store = store(kept);
        Path finished = finished(OCTETS);
        for (String key : List.of("", "../a", "a/../../b")) {
            assertThrows(IllegalArgumentException.class, () -> store.put(key, finished), key);
        }
        assertTrue(Files.exists(finished));
    }

    @ParameterizedTest
    @EnumSource
    void everyKeyHasALocationOfItsOwn(Kept kept) {
        FileStore store = store(kept);
        assertTrue(store.location("a/b").endsWith("a/b"));
        assertNotEquals(store.location("a/b"), store.location("a/c"));
        Path local = store.local("a/b");
        assertTrue(local == null || store.location("a/b").equals(local.toString()));
    }
}
