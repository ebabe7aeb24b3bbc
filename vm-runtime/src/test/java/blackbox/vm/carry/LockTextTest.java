package blackbox.vm.carry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.vm.image.ImageLock;
import blackbox.vm.qemu.QemuLock;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// The locks in the sources are formatted as a renewal writes them, so that its diff shows only packages.
class LockTextTest {
    @Test
    void theShippedLocksAreInTheFormThatRenewalsWrite() throws Exception {
        Path image = Path.of("images/default.lock");
        assertEquals(Files.readString(image), ImageLock.read(image).text());
        Path qemu = Path.of("src/main/resources/blackbox/vm/qemu/debian-13.lock");
        assertEquals(Files.readString(qemu), QemuLock.read(qemu).text());
    }
}
