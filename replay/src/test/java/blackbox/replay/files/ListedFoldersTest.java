package blackbox.replay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.fs.FolderNames;
import blackbox.schemas.row.Text;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ListedFoldersTest {

    private static Map<Text, Long> folder(int entries) {
        var names = new HashMap<Text, Long>();
        for (int i = 0; i < entries; i++) {
            names.put(Text.of("entry-" + i), 1L);
        }
        return names;
    }

    @Test
    void asManyAreKeptAsFitIntoTheirShareOfMemory() {
        Map<Text, Long> large = folder(10_000);
        long each = FolderNames.bytesOf(large);
        long fit = ListedFolders.BYTES_MAX / each;
        assertTrue(fit < ListedFolders.FOLDERS_MAX, () -> fit + " folders fit");
        var listed = new ListedFolders();
        for (long i = 0; i <= fit; i++) {
            listed.keep(i, large);
        }
        assertNull(listed.of(0));
        assertNotNull(listed.of(1));
        assertEquals(fit * each, listed.bytes());
    }

    @Test
    void manySmallOnesAreBoundedByTheirNumber() {
        var listed = new ListedFolders();
        Map<Text, Long> small = folder(1);
        for (long i = 0; i < ListedFolders.FOLDERS_MAX; i++) {
            listed.keep(i, small);
        }
        listed.of(0); // the last that was looked into
        listed.keep(-1, small);
        assertNotNull(listed.of(0));
        assertNull(listed.of(1));
        assertEquals(ListedFolders.FOLDERS_MAX * FolderNames.bytesOf(small), listed.bytes());
    }
}
