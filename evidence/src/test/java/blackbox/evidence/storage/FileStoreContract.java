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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The contract of [FileStore]. The test of an implementation extends it, in whatever module that is.
public abstract class FileStoreContract {

    private static final byte[] OCTETS = {1, 2, 3, 4, 5, 6, 7};

    /// A key as they are: with a partition's name and what a URI would escape.
    private static final String KEY = "blackbox/events/data/run=0198c0de-0000-7000-8000-000000000001/0-9-ab.parquet";

    /// Where finished files are; on the same file system as a local store.
    @TempDir
    protected Path folder;

    /// A store with nothing in it, which takes files that are put from `folder`.
    protected abstract FileStore store() throws Exception;

    private Path finished(byte... octets) throws IOException {
        return Files.write(Files.createTempFile(folder, "finished", ""), octets);
    }

    private static byte[] read(FileStore store, String key) throws IOException {
        try (StoredFile file = store.open(key)) {
            byte[] octets = file.octets(100);
            return octets == null ? new byte[0] : octets;
        }
    }

    @Test
    void whatIsPutIsThereWhole() throws Exception {
        FileStore store = store();
        assertFalse(store.exists("a/b/c"));
        Path finished = finished(OCTETS);
        store.put("a/b/c", finished);
        assertFalse(Files.exists(finished));
        assertTrue(store.exists("a/b/c"));
        assertFalse(store.exists("a/b"));
        assertArrayEquals(OCTETS, read(store, "a/b/c"));
    }

    @Test
    void aKeyIsWrittenOnce() throws Exception {
        FileStore store = store();
        store.put("a/b", finished(OCTETS));
        Path other = finished((byte) 9);
        assertThrows(FileAlreadyExistsException.class, () -> store.put("a/b", other));
        assertArrayEquals(OCTETS, read(store, "a/b"));
        assertTrue(Files.exists(other));
    }

    @Test
    void rangesAreReadFromAnywhere() throws Exception {
        FileStore store = store();
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

    @Test
    void aFolderIsWhatKeysBeginWith() throws Exception {
        FileStore store = store();
        assertEquals(List.of(), store.list("a"));
        for (String key : List.of("a/z", "a/b/c", "a/b/d", "ab/c", "a/y")) {
            store.put(key, finished(OCTETS));
        }
        assertEquals(List.of("b/", "y", "z"), store.list("a"));
        assertEquals(List.of("c", "d"), store.list("a/b"));
        assertEquals(List.of(), store.list("a/z"));
        assertEquals(List.of(), store.list("nowhere/at/all"));
    }

    @Test
    void whatIsDeletedIsGone() throws Exception {
        FileStore store = store();
        store.put("a/b", finished(OCTETS));
        try (StoredFile file = store.open("a/b")) {
            store.delete("a/b");
            assertReadableOrFailing(file);
        }
        assertFalse(store.exists("a/b"));
        assertEquals(List.of(), store.list("a"));
        assertThrows(NoSuchFileException.class, () -> store.open("a/b"));
        store.delete("a/b");
    }

    @Test
    void noKeyLeadsOutOfTheStore() throws Exception {
        FileStore store = store();
        Path finished = finished(OCTETS);
        for (String key : List.of("", "../a", "a/../../b")) {
            assertThrows(IllegalArgumentException.class, () -> store.put(key, finished), key);
        }
        assertTrue(Files.exists(finished));
    }

    private static void assertReadableOrFailing(StoredFile deleted) {
        byte[] octets;
        try {
            octets = deleted.octets(100);
        } catch (IOException e) {
            return; // an object store may say that it is gone
        }
        assertArrayEquals(OCTETS, octets);
    }

    @Test
    void everyKeyHasALocationOfItsOwnThatEndsInIt() throws Exception {
        FileStore store = store();
        for (String key : List.of("a/b", "a/c", KEY)) {
            assertTrue(store.location(key).endsWith("/" + key), store.location(key));
            Path local = store.local(key);
            assertTrue(local == null || store.location(key).equals(local.toString()));
        }
    }

    @Test
    void aKeyOfTheTableIsLikeAnyOther() throws Exception {
        FileStore store = store();
        store.put(KEY, finished(OCTETS));
        assertArrayEquals(OCTETS, read(store, KEY));
        assertTrue(store.exists(KEY));
        String folder = KEY.substring(0, KEY.lastIndexOf('/'));
        assertEquals(List.of(KEY.substring(folder.length() + 1)), store.list(folder));
        assertEquals(
                List.of(folder.substring(folder.lastIndexOf('/') + 1) + "/"),
                store.list(folder.substring(0, folder.lastIndexOf('/'))));
    }

    @Test
    void itsVersionChangesWithTheContentAlone() throws Exception {
        FileStore store = store();
        assertThrows(NoSuchFileException.class, () -> store.version(KEY));
        store.put(KEY, finished(OCTETS));
        String first = store.version(KEY);
        store.put("a/b", finished((byte) 9));
        assertArrayEquals(OCTETS, read(store, KEY));
        assertEquals(first, store.version(KEY), "it is the same file");
        // By another with as many octets and as old.
        byte[] other = OCTETS.clone();
        other[3]++;
        Path finished = finished(other);
        store.delete(KEY);
        store.put(KEY, finished);
        assertNotEquals(first, store.version(KEY));
        store.delete(KEY);
        assertThrows(NoSuchFileException.class, () -> store.version(KEY));
    }
}
