package blackbox.vm.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.qemu.Qemu;
import blackbox.vm.qemu.QemuBuild;
import blackbox.vm.qemu.QemuBuilds;
import blackbox.vm.qemu.QemuTrial;
import blackbox.vm.qemu.TrialMachine;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Debian's QEMU as it comes from the mirror: unpacked twice it has one digest, and it records and replays a real
/// guest.
class UnpackedQemuTest {
    @TempDir
    Path folder;

    @Test
    void itIsTheSameWhereverItIsUnpackedAndReplaysAGuest() throws Exception {
        var test = TestHost.open();
        var builds = new QemuBuilds(test.data(), UnpackedQemuTest::say);
        QemuBuild build =
                builds.list().isEmpty() ? builds.fetch(null) : builds.list().getFirst();
        Files.createSymbolicLink(folder.resolve("archive"), test.data().resolve("archive"));
        QemuBuild again = new QemuBuilds(folder, UnpackedQemuTest::say).fetch(null);
        assertEquals(build.qemu().digest(), again.qemu().digest());
        assertNotEquals(build.qemu().place(), again.qemu().place());

        Qemu qemu = again.qemu();
        assertTrue(qemu.version().startsWith("QEMU emulator version"), qemu.version());
        var admission = new QemuTrial(folder, TrialMachine.exact(), UnpackedQemuTest::say).of(qemu, test.image());
        assertTrue(admission.admitted(), admission.reason());
    }

    private static void say(String what) {
        System.err.println("QEMU test: " + what);
    }
}
