package blackbox.vm.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.vm.FileFingerprint;
import blackbox.vm.confine.Box;
import blackbox.vm.image.FakeImage;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImage.ImageRecord;
import blackbox.vm.qemu.Qemu.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How a trial judges programs that behave as good and bad QEMUs do. The trial of a real QEMU is part of the
/// tests of the exact tier.
class QemuTrialTest {
    private static final String HASH = Hash.sha256(new byte[0]).toString();
    private static final String GOOD = "echo 'blackbox: trial: done' > console; echo e > events";

    @TempDir
    Path data;

    private final List<String> said = new ArrayList<>();
    private GuestImage image;

    @BeforeEach
    void makeImage() throws Exception {
        image = FakeImage.in(data);
    }

    /// A program that the trial takes for QEMU.
    private Qemu program(String script) throws Exception {
        Path file = Files.writeString(data.resolve("program"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        return new Qemu(file, Kind.INSTALLED, "a QEMU", Hash.sha256(Files.readAllBytes(file)));
    }

    private QemuTrial trial() {
        return new QemuTrial(data, TrialMachine.exact(), Duration.ofSeconds(2), Box::unconfined, said::add);
    }

    @Test
    void theSameOutputTwiceIsAdmittedAndNotTriedAgain() throws Exception {
        Qemu qemu = program(GOOD + "; echo ran >> " + data.resolve("runs"));
        assertNull(trial().known(qemu, image));
        var admission = trial().of(qemu, image);
        assertTrue(admission.admitted(), admission.reason());
        assertEquals(admission, trial().of(qemu, image));
        assertEquals(2, Files.readAllLines(data.resolve("runs")).size(), "a recording and a replay");
        assertEquals(List.of("trying record and replay with a QEMU"), said);
    }

    @Test
    void anotherKernelIsAnotherTrial() throws Exception {
        Qemu qemu = program(GOOD);
        assertNotNull(trial().of(qemu, image));
        var files = new HashMap<>(image.record().files());
        files.put(GuestImage.KERNEL, FileFingerprint.of(Files.writeString(data.resolve("kernel"), "newer")));
        ImageRecord old = image.record();
        var record = new ImageRecord(
                1, HASH, old.builtAt(), old.definition(), old.lock(), files, Map.of(), false, List.of(), Map.of());
        assertNull(trial().known(qemu, new GuestImage("default", Hash.ofHex(HASH), image.folder(), record)));
    }

    @Test
    void aReplayThatHangsIsEndedAndRefused() throws Exception {
        var admission = trial().of(program("case $* in *rr=replay*) exec sleep 600;; esac; " + GOOD), image);
        assertFalse(admission.admitted());
        assertTrue(admission.reason().contains("replay of a short guest did not end within 2 s"), admission.reason());
    }

    @Test
    void aReplayWithOtherOutputIsRefused() throws Exception {
        for (String output : List.of("console", "events", "disk")) {
            var admission = trial().of(program(GOOD + "; echo $$ >> " + output), image);
            assertFalse(admission.admitted());
            assertTrue(admission.reason().contains(output), admission.reason());
        }
    }

    @Test
    void aProgramThatFailsIsRefusedWithItsOwnMessage() throws Exception {
        var admission = trial().of(program("echo 'no such device' >&2; exit 1"), image);
        assertFalse(admission.admitted());
        assertTrue(
                admission.reason().endsWith("record of a short guest ended with 1: no such device"),
                admission.reason());
    }

    @Test
    void aGuestThatEndsEarlyTheSameWayTwiceIsRefused() throws Exception {
        var admission = trial().of(program("echo panic > console; : > events"), image);
        assertFalse(admission.admitted());
        assertTrue(admission.reason().contains("did not reach the guest's end"), admission.reason());
    }

    @Test
    void theGuestIsAnsweredOnlyWhileRecording() throws Exception {
        Qemu qemu = program("case $* in *rr=record*) echo ask; read -r answer; echo $answer > ../answer;; esac; "
                + "cat ../answer > events; echo 'blackbox: trial: done' > console");
        var admission = trial().of(qemu, image);
        assertTrue(admission.admitted(), admission.reason());
    }
}
