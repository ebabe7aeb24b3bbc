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
    private GuestImage updated;

    @BeforeEach
    void update() throws Exception {
        more = GuestFiles.with(Map.of("tracer/a.py", new byte[] {1, 2, 3}));
        GuestImage old = FakeImage.in(data);
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
