package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.VmException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An image that gets other guest files, and what is left if that process is killed at each of its steps.
class ImageStoreTest {

    private static final String NEXT_RECORD = GuestImage.RECORD + ".next";

    @TempDir
    Path data;

    private final List<String> said = new ArrayList<>();
    private GuestFiles more;
    private ImageStore store;
    private Path initrd;
    private Path record;
    private byte[] oldInitrd;
    private byte[] oldRecord;
    private GuestImage old;
    private GuestImage updated;

    @BeforeEach
    void update() throws Exception {
        more = GuestFiles.with(Map.of("tracer/a.py", new byte[] {1, 2, 3}));
        old = FakeImage.in(data);
        initrd = old.file(GuestImage.INITRD);
        record = old.file(GuestImage.RECORD);
        oldInitrd = Files.readAllBytes(initrd);
        oldRecord = Files.readAllBytes(record);
        store = new ImageStore(data);
        updated = store.open(FakeImage.NAME, more, said::add);
        assertNotEquals(old.digest(), updated.digest());
    }

    @Test
    void itIsTheNewOneAfterwards() throws Exception {
        assertEquals(updated, store.find(FakeImage.NAME));
        assertArrayEquals(updated.initrdWith(more), Files.readAllBytes(initrd));
        assertFalse(Files.exists(record.resolveSibling(NEXT_RECORD)));
        assertEquals(List.of(), said);
    }

    @Test
    void theOneBeforeIsKeptForReplaysOnly() throws Exception {
        List<GuestImage> all = store.listForReplay();
        assertEquals(
                List.of(updated.digest(), old.digest()),
                all.stream().map(GuestImage::digest).toList());
        assertArrayEquals(oldInitrd, Files.readAllBytes(all.getLast().file(GuestImage.INITRD)));
        assertArrayEquals(oldRecord, Files.readAllBytes(all.getLast().file(GuestImage.RECORD)));
        assertEquals(List.of(updated), store.list());
    }

    @Test
    void asManyAreKeptAsThereAreSnapshots() throws Exception {
        for (int i = 0; i < 2 * ReplacedImages.KEPT; i++) {
            store.open(FakeImage.NAME, GuestFiles.with(Map.of("tracer/a.py", new byte[] {(byte) (10 + i)})), said::add);
        }
        assertEquals(1 + ReplacedImages.KEPT, store.listForReplay().size());
        assertFalse(
                store.listForReplay().stream().anyMatch(each -> each.digest().equals(old.digest())));
    }

    @Test
    void killedWhileItWasKeptItIsKeptTheNextTime() throws Exception {
        Path replaced = data.resolve("images/.replaced");
        Path part = replaced.resolve(updated.digest() + ".part");
        Files.createDirectories(part);
        Files.writeString(part.resolve(GuestImage.INITRD), "half");
        Path wreck = replaced.resolve(updated.digest().toString());
        Files.createDirectories(wreck);
        Files.copy(record, wreck.resolve(GuestImage.RECORD));
        Path unreadable = Files.createDirectories(replaced.resolve("0".repeat(64)));
        Files.writeString(unreadable.resolve(GuestImage.RECORD), "{");
        assertEquals(2, store.listForReplay().size(), "the image, and the one before it");
        store.open(FakeImage.NAME, GuestFiles.with(Map.of("tracer/a.py", new byte[] {9})), said::add);
        assertFalse(Files.exists(part));
        assertEquals(
                updated.digest(),
                ImageStore.read(replaced.resolve(updated.digest().toString())).recordedDigest());
    }

    @Test
    void aBuildKeepsWhatItReplacesIfItIsAnother() throws Exception {
        Path built = data.resolve("images/scratch");
        Files.createDirectory(built);
        for (Path file : List.of(initrd, record)) {
            Files.copy(file, built.resolve(file.getFileName()));
        }
        store.open(FakeImage.NAME, GuestFiles.with(Map.of("tracer/a.py", new byte[] {9})), said::add);
        GuestImage before = store.find(FakeImage.NAME);
        store.adopt(built, FakeImage.NAME, said::add);
        assertEquals(
                List.of(updated.digest(), before.digest(), old.digest()).stream()
                        .sorted(Comparator.comparing(Object::toString))
                        .toList(),
                store.listForReplay().stream()
                        .map(GuestImage::digest)
                        .distinct()
                        .sorted(Comparator.comparing(Object::toString))
                        .toList());
    }

    @Test
    void killedBeforeItsInitrdWasReplacedItIsTheOldOne() throws Exception {
        Files.move(record, record.resolveSibling(NEXT_RECORD));
        Files.write(record, oldRecord);
        Files.write(initrd, oldInitrd);
        assertEquals(Map.of(), store.find(FakeImage.NAME).record().guestFiles());
        assertEquals(
                updated.digest(), store.open(FakeImage.NAME, more, said::add).digest());
    }

    @Test
    void killedOnceItWasItIsTheNewOne() throws Exception {
        Files.move(record, record.resolveSibling(NEXT_RECORD));
        Files.write(record, oldRecord);
        assertEquals(updated, store.find(FakeImage.NAME));
        assertFalse(Files.exists(record.resolveSibling(NEXT_RECORD)));
    }

    @Test
    void anInitrdOfNeitherIsRefused() throws Exception {
        Files.copy(record, record.resolveSibling(NEXT_RECORD));
        Files.writeString(initrd, "planted");
        refused();
        assertFalse(Files.exists(record.resolveSibling(NEXT_RECORD)));
        refused();
    }

    /// From which the next initrd is made.
    @Test
    void aBaseThatIsNotTheOneThatWasBuiltIsRefused() throws Exception {
        Files.writeString(initrd.resolveSibling(GuestImage.INITRD_BASE), "planted");
        var other = GuestFiles.with(Map.of("tracer/b.py", new byte[0]));
        var e = assertThrows(VmException.class, () -> store.open(FakeImage.NAME, other, said::add));
        assertEquals(VmException.Code.IMAGE_CORRUPT, e.code());
    }

    private void refused() {
        var e = assertThrows(VmException.class, () -> store.find(FakeImage.NAME));
        assertEquals(VmException.Code.IMAGE_CORRUPT, e.code());
    }
}
