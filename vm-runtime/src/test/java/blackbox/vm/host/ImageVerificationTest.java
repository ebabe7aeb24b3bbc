package blackbox.vm.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImageBuilder;
import blackbox.vm.image.ImageStore;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An image built again from its archive, on another path and without a network, is the same bytes; one that
/// was changed is found. Takes as long as a build.
class ImageVerificationTest {
    @TempDir
    Path folder;

    @Test
    void theRebuildIsTheSameAndAFlippedByteIsFound() throws Exception {
        var test = TestHost.open();
        Path data = Files.createDirectories(folder.resolve("elsewhere/data"));
        Files.createSymbolicLink(data.resolve("archive"), test.data().resolve("archive"));
        Files.createDirectory(data.resolve("images"));
        Command.of(
                        "cp",
                        "-a",
                        test.image().folder().toString(),
                        data.resolve("images").toString())
                .run();
        var store = new ImageStore(data);
        flipByte(data.resolve("images/default").resolve(GuestImage.ROOT), 100_000_000);
        GuestImage copy = store.recorded("default");
        Files.delete(copy.file(GuestImage.INITRD));

        var found = new GuestImageBuilder(store, InstantSource.system(), System.err::println).verify(copy, null);

        assertFalse(found.identical());
        assertEquals(Set.of(GuestImage.ROOT, GuestImage.INITRD), Set.copyOf(found.differing()));
        assertEquals(found.recorded(), found.rebuilt(), "the rebuild has the recorded digest");
        var refused = assertThrows(VmException.class, () -> store.find("default"));
        assertEquals(VmException.Code.IMAGE_CORRUPT, refused.code());
    }

    private static void flipByte(Path file, long at) throws Exception {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.seek(at);
            int octet = raw.read();
            raw.seek(at);
            raw.write(octet ^ 1);
        }
    }
}
