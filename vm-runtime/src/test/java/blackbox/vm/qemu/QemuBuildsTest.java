package blackbox.vm.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.apt.DebFile;
import blackbox.vm.qemu.Qemu.Kind;
import blackbox.vm.qemu.QemuBuild.BuildRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An unpacked build is used only while it is exactly what was unpacked.
class QemuBuildsTest {
    @TempDir
    Path data;

    private final List<String> said = new ArrayList<>();
    private Path root;
    private Hash digest;

    @BeforeEach
    void unpack() throws Exception {
        Path made = data.resolve("made/root");
        Files.createDirectories(made.resolve("usr/bin"));
        Files.writeString(made.resolve("usr/bin/qemu-system-x86_64"), "a program");
        Files.setPosixFilePermissions(
                made.resolve("usr/bin/qemu-system-x86_64"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(made.resolve("usr/bios"), "firmware");
        Files.createSymbolicLink(made.resolve("usr/link"), Path.of("bios"));
        var seal = FolderFingerprint.of(made);
        digest = Hash.ofHex(seal.sha256());
        var deb =
                new DebFile("qemu", "1:10.0", "amd64", Hash.sha256(new byte[0]).toString(), 1);
        Json.write(
                data.resolve("made/build.json"),
                new BuildRecord(BuildRecord.FORMAT, "QEMU 10", "trixie", seal, List.of(deb), List.of()));
        Files.createDirectory(data.resolve("qemu"));
        Path place = Files.move(data.resolve("made"), data.resolve("qemu").resolve(digest.toString()));
        root = place.resolve("root");
    }

    private QemuBuilds builds() {
        return new QemuBuilds(data, said::add);
    }

    @Test
    void aBuildIsFoundByTheDigestOverAllItsFiles() throws Exception {
        Qemu qemu = builds().withDigest(digest);
        assertEquals(new Qemu(root.toAbsolutePath(), Kind.UNPACKED, "QEMU 10", digest), qemu);
        assertTrue(builds().list().getFirst().verify());
        assertNull(builds().withDigest(Hash.sha256(new byte[1])));
    }

    @Test
    void aChangedByteALostFileAnAddedOneAndAnotherLinkAreEachNoticed() throws Exception {
        Path bios = root.resolve("usr/bios");
        refusedAfter(() -> Files.writeString(bios, "Firmware"), () -> Files.writeString(bios, "firmware"));
        refusedAfter(() -> Files.delete(bios), () -> Files.writeString(bios, "firmware"));
        Path more = root.resolve("usr/more");
        refusedAfter(() -> Files.writeString(more, ""), () -> Files.delete(more));
        Path link = root.resolve("usr/link");
        refusedAfter(
                () -> {
                    Files.delete(link);
                    Files.createSymbolicLink(link, Path.of("more"));
                },
                () -> {
                    Files.delete(link);
                    Files.createSymbolicLink(link, Path.of("bios"));
                });
        Path program = root.resolve("usr/bin/qemu-system-x86_64");
        assertEquals(digest, FolderFingerprint.hash(root), "a program that is not executable gives another digest");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rw-r--r--"));
        assertFalse(digest.equals(FolderFingerprint.hash(root)));
    }

    @Test
    void aChangeThatKeepsLengthAndTimeIsFoundByVerify() throws Exception {
        Path bios = root.resolve("usr/bios");
        FileTime before = Files.getLastModifiedTime(bios);
        QemuBuild build = builds().list().getFirst();
        Files.writeString(bios, "Firmware");
        Files.setLastModifiedTime(bios, before);
        assertEquals(1, builds().list().size(), "the cheap check cannot see it");
        assertFalse(build.verify());
    }

    @Test
    void theCommandLineOfABuildIsTheSameBelowEveryDataFolder() throws Exception {
        Qemu qemu = builds().list().getFirst().qemu();
        List<String> words = qemu.program("qemu");
        assertTrue(words.stream().noneMatch(word -> word.contains(data.toString())), words.toString());
        assertEquals(
                qemu.program(),
                words.stream()
                        .map(word -> word.startsWith("qemu/") ? root.toAbsolutePath() + word.substring(4) : word)
                        .toList());
    }

    @Test
    void aCacheThatAnotherVersionOrAPowerCutLeftIsRenewed() throws Exception {
        Path note = data.resolve("cache/qemu.json");
        Files.createDirectories(note.getParent());
        for (String left : List.of("", "{", "null", "[]", "{\"binary\": \"/bin/true\", \"seal\": {}}")) {
            Files.writeString(note, left);
            assertTrue(Qemu.find(data, "true").digest().toString().length() == 64, left);
            assertTrue(Files.readString(note).contains("\"fingerprint\""), left);
        }
    }

    @Test
    void aMachineWithoutQemuIsToldWhatToInstall() {
        var absent = assertThrows(VmException.class, () -> Qemu.find(data, "qemu-that-is-not-there"));
        assertEquals(VmException.Code.QEMU_MISSING, absent.code());
        assertTrue(absent.getMessage().contains("apt-get install"), absent.getMessage());
    }

    private interface Step {
        void run() throws Exception;
    }

    private void refusedAfter(Step change, Step mend) throws Exception {
        change.run();
        said.clear();
        assertEquals(List.of(), builds().list());
        assertTrue(said.getFirst().contains("blackbox doctor --fix"), said.toString());
        mend.run();
        assertEquals(1, builds().list().size(), said.toString());
    }
}
