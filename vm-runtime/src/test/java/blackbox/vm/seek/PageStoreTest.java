package blackbox.vm.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageStoreTest {
    private static final int PAGE = PageStore.PAGE_BYTES;

    @TempDir
    private Path folder;

    private Path file(String name, byte[] octets) throws IOException {
        return Files.write(folder.resolve(name), octets);
    }

    private Path copy(Path base) throws IOException {
        return Files.copy(base, folder.resolve("copy"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static PageTable throughItsOctets(PageTable table) throws IOException {
        var octets = new ByteArrayOutputStream();
        table.write(new DataOutputStream(octets));
        return PageTable.read(new DataInputStream(new ByteArrayInputStream(octets.toByteArray())));
    }

    private static PageTable keep(PageStore store, Path base, Path file, PageTable before) throws VmException {
        try (var live = LiveFile.open(base, file)) {
            return store.keep(live, before);
        }
    }

    @Test
    void everyKeptMachineIsThereAgainWhateverWasKeptBehindIt() throws Exception {
        var random = new Random(7);
        for (int round = 0; round < 10; round++) {
            byte[] octets = new byte[PAGE * (1 + random.nextInt(40))];
            random.nextBytes(octets);
            Path base = file("base", octets);
            var states = new ArrayList<byte[]>();
            var tables = new ArrayList<PageTable>();
            Path pages = folder.resolve("pages-" + round);
            for (int machine = 0; machine < 12; machine++) {
                for (int i = random.nextInt(12); i > 0; i--) {
                    octets[random.nextInt(octets.length)] ^= 1;
                }
                states.add(octets.clone());
                // Opened anew each time, as by another process.
                try (var store = PageStore.open(pages)) {
                    PageTable before = tables.isEmpty() ? PageTable.NONE : tables.getLast();
                    tables.add(throughItsOctets(keep(store, base, file("now", octets), before)));
                }
            }
            try (var store = PageStore.read(pages)) {
                for (int machine = 0; machine < states.size(); machine++) {
                    Path copy = copy(base);
                    store.apply(tables.get(machine), copy);
                    assertEquals(-1, Arrays.mismatch(states.get(machine), Files.readAllBytes(copy)));
                }
            }
        }
    }

    @Test
    void whatTheMachineBeforeHasIsKeptOnce() throws Exception {
        Path base = file("base", new byte[100 * PAGE]);
        byte[] now = new byte[100 * PAGE];
        Arrays.fill(now, 10 * PAGE, 20 * PAGE, (byte) 1);
        try (var store = PageStore.open(folder.resolve("pages"))) {
            PageTable first = keep(store, base, file("now", now), PageTable.NONE);
            assertEquals(10 * PAGE, store.bytes());
            now[15 * PAGE] = 2;
            PageTable second = keep(store, base, file("now", now), first);
            assertEquals(10, second.size());
            assertEquals(11 * PAGE, store.bytes());
            Arrays.fill(now, (byte) 0);
            assertEquals(0, keep(store, base, file("now", now), second).size());
            assertEquals(11 * PAGE, store.bytes());
        }
    }

    @Test
    void aPageOfZerosWhereTheBaseHasDataIsAChange() throws Exception {
        byte[] data = new byte[4 * PAGE];
        Arrays.fill(data, (byte) 3);
        Path base = file("base", data);
        Path holes = folder.resolve("holes");
        try (var raw = new java.io.RandomAccessFile(holes.toFile(), "rw");
                var store = PageStore.open(folder.resolve("pages"))) {
            raw.setLength(4L * PAGE);
            PageTable table = keep(store, base, holes, PageTable.NONE);
            assertEquals(4, table.size());
            Path copy = copy(base);
            store.apply(table, copy);
            assertEquals(-1, Files.mismatch(holes, copy));
        }
    }

    @Test
    void whatWasBeingWrittenWhenAProcessEndedIsWrittenOver() throws Exception {
        Path base = file("base", new byte[4 * PAGE]);
        byte[] now = new byte[4 * PAGE];
        Arrays.fill(now, (byte) 5);
        Path pages = file("pages", new byte[PAGE / 2]);
        try (var store = PageStore.open(pages)) {
            PageTable table = keep(store, base, file("now", now), PageTable.NONE);
            Path copy = copy(base);
            store.apply(table, copy);
            assertEquals(-1, Files.mismatch(folder.resolve("now"), copy));
        }
    }

    @Test
    void aDamagedStoreOrTableIsRefused() throws Exception {
        Path base = file("base", new byte[4 * PAGE]);
        byte[] now = new byte[4 * PAGE];
        now[0] = 1;
        now[3 * PAGE] = 1;
        Path pages = folder.resolve("pages");
        PageTable table;
        try (var store = PageStore.open(pages)) {
            table = keep(store, base, file("now", now), PageTable.NONE);
            Path small = file("small", new byte[PAGE]);
            assertThrows(VmException.class, () -> keep(store, base, small, PageTable.NONE));
            assertThrows(VmException.class, () -> store.apply(table, small));
        }
        byte[] stored = Files.readAllBytes(pages);
        stored[PAGE + 7] ^= 1;
        Files.write(pages, stored);
        try (var store = PageStore.read(pages)) {
            assertThrows(VmException.class, () -> store.apply(table, copy(base)));
        }
        Files.write(pages, Arrays.copyOf(stored, PAGE));
        try (var store = PageStore.read(pages)) {
            assertThrows(VmException.class, () -> store.apply(table, copy(base)));
        }
        var octets = new ByteArrayOutputStream();
        table.write(new DataOutputStream(octets));
        assertTrue(octets.size() > 8);
        byte[] cut = Arrays.copyOf(octets.toByteArray(), octets.size() - 1);
        assertThrows(IOException.class, () -> PageTable.read(new DataInputStream(new ByteArrayInputStream(cut))));
    }
}
