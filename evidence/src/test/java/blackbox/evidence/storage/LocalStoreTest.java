package blackbox.evidence.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;

final class LocalStoreTest extends FileStoreContract {

    @Override
    protected FileStore store() {
        return new LocalStore(folder.resolve("store"));
    }

    @Test
    void aFileThatIsChangedInItsPlaceIsAnotherVersion() throws Exception {
        FileStore store = store();
        Path finished = Files.write(folder.resolve("finished"), new byte[] {1, 2, 3});
        store.put("a/b", finished);
        String before = store.version("a/b");
        Path file = folder.resolve("store/a/b");
        FileTime modified = Files.getLastModifiedTime(file);
        Files.write(file, new byte[] {1, 2, 4});
        Files.setLastModifiedTime(file, modified);
        assertNotEquals(before, store.version("a/b"));
    }

    @Test
    void whatIsDeletedStaysReadableToItsEnd() throws Exception {
        FileStore store = store();
        store.put("a/b", Files.write(folder.resolve("finished"), new byte[] {1, 2, 3}));
        try (StoredFile file = store.open("a/b")) {
            store.delete("a/b");
            assertArrayEquals(new byte[] {1, 2, 3}, file.octets(100));
        }
    }
}
