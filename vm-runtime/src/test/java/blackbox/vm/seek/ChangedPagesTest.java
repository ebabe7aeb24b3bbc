package blackbox.vm.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangedPagesTest {
    private static final int PAGE = 4096;

    @TempDir
    private Path folder;

    private Path file(String name, byte[] octets) throws IOException {
        return Files.write(folder.resolve(name), octets);
    }

    @Test
    void aCopyOfTheBaseWithThePagesIsTheRam() throws Exception {
        var random = new Random(7);
        for (int round = 0; round < 20; round++) {
            byte[] before = new byte[PAGE * (1 + random.nextInt(40))];
            random.nextBytes(before);
            byte[] after = before.clone();
            int changes = random.nextInt(12);
            for (int i = 0; i < changes; i++) {
                after[random.nextInt(after.length)] ^= 1;
            }
            Path base = file("base", before);
            Path pages = folder.resolve("pages");
            long count = ChangedPages.save(base, file("ram", after), pages);
            assertEquals(8 + count * (8 + PAGE), Files.size(pages));
            Path copy = Files.copy(base, folder.resolve("copy"), StandardCopyOption.REPLACE_EXISTING);
            ChangedPages.apply(pages, copy);
            assertEquals(-1, Arrays.mismatch(after, Files.readAllBytes(copy)));
        }
    }

    @Test
    void onlyWhatChangedIsKept() throws Exception {
        byte[] after = new byte[100 * PAGE];
        after[99 * PAGE] = 1;
        assertEquals(1, ChangedPages.save(file("base", new byte[100 * PAGE]), file("ram", after), folder.resolve("p")));
    }

    @Test
    void ramOfAnotherSizeAndFilesThatAreNotWholeAreRefused() throws Exception {
        Path small = file("small", new byte[PAGE]);
        Path large = file("large", new byte[3 * PAGE]);
        assertThrows(VmException.class, () -> ChangedPages.save(small, large, folder.resolve("p")));
        byte[] changed = new byte[3 * PAGE];
        changed[2 * PAGE] = 5;
        ChangedPages.save(large, file("changed", changed), folder.resolve("p"));
        assertThrows(VmException.class, () -> ChangedPages.apply(folder.resolve("p"), small), "page 2 of 1");
        byte[] whole = Files.readAllBytes(folder.resolve("p"));
        Path cut = file("cut", Arrays.copyOf(whole, whole.length - 1));
        assertThrows(VmException.class, () -> ChangedPages.apply(cut, large));
    }
}
