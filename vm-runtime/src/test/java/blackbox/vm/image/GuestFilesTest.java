package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.VmException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuestFilesTest {
    private static final byte[] CONTENT = {1, 2, 3};

    @TempDir
    Path folder;

    @Test
    void theArchiveIsWhatCpioReads() throws Exception {
        var files = GuestFiles.with(Map.of("tracer/b.py", CONTENT, "tracer/a.c", new byte[0]));
        Path archive = Files.write(folder.resolve("a.cpio"), files.archive());
        String listed = Command.of("cpio", "-i", "-t", "--quiet", "-F", archive.toString())
                .run();
        assertEquals(
                List.of(
                        "init",
                        "blackbox",
                        "blackbox/init",
                        "blackbox/init/agent.py",
                        "blackbox/init/boot.py",
                        "blackbox/init/clocks.py",
                        "blackbox/init/init.py",
                        "blackbox/init/initrd.sh",
                        "blackbox/init/streams.py",
                        "blackbox/init/trust.py",
                        "blackbox/tracer",
                        "blackbox/tracer/a.c",
                        "blackbox/tracer/b.py"),
                listed.lines().toList());
        Command.of("cpio", "-i", "-d", "--quiet", "-F", archive.toString())
                .in(folder)
                .run();
        assertArrayEquals(CONTENT, Files.readAllBytes(folder.resolve("blackbox/tracer/b.py")));
    }

    @Test
    void theSameFilesGiveTheSameBytes() throws Exception {
        assertArrayEquals(
                GuestFiles.with(Map.of("tracer/a.py", CONTENT)).archive(),
                GuestFiles.with(Map.of("tracer/a.py", CONTENT)).archive());
    }

    /// So that what is made of a program's folder need not be made again when another one changes.
    @Test
    void whatAProgramNeedsIsItsFolderAndTheFirstScript() throws Exception {
        var files = GuestFiles.with(Map.of("tracer/a.py", CONTENT, "tracer/b.c", CONTENT, "tracers/c.py", CONTENT));
        assertEquals(
                Set.of("init/initrd.sh", "tracer/a.py", "tracer/b.c"),
                files.around("tracer/a.py").digests().keySet());
    }

    private GuestImage image() throws VmException {
        var fingerprint = new FileFingerprint("0".repeat(64), 1, 1, 1);
        var files =
                Map.of(GuestImage.KERNEL, fingerprint, GuestImage.INITRD, fingerprint, GuestImage.ROOT, fingerprint);
        var definition = ImageDefinition.named("default");
        var digest = "0".repeat(64);
        var lock = Objects.requireNonNull(ImageLock.shipped(definition));
        var record = new GuestImage.ImageRecord(
                1, digest, "2026-01-01T00:00:00Z", definition, lock, files, Map.of(), false, List.of(), Map.of());
        return new GuestImage("default", Hash.ofHex(digest), folder, record);
    }

    @Test
    void whatIsDerivedIsPartOfAnImageAndNotOfTheFiles() throws Exception {
        var files = GuestFiles.with(Map.of("tracer/a.py", CONTENT));
        var deriving = files.deriving(derivation(CONTENT));
        assertArrayEquals(files.archive(), deriving.archive());
        var whole = deriving.whole(image());
        assertArrayEquals(
                GuestFiles.with(Map.of("tracer/a.py", CONTENT, "tracer/derived", CONTENT))
                        .archive(),
                whole.archive());
        assertTrue(deriving.areIn(whole.digests()));
        assertFalse(deriving.areIn(files.digests()), "nothing is derived yet");
        assertFalse(files.areIn(whole.digests()), "what nobody derives is not of these files");
        assertFalse(GuestFiles.with(Map.of("tracer/a.py", new byte[0]))
                .deriving(derivation(CONTENT))
                .areIn(whole.digests()));
    }

    @Test
    void whatCannotBeDerivedHereIsLeftOut() throws Exception {
        var files = GuestFiles.with(Map.of("tracer/a.py", CONTENT));
        assertEquals(
                files.digests(), files.deriving(derivation(null)).whole(image()).digests());
    }

    private static GuestFiles.Derivation derivation(byte @Nullable [] content) {
        return new GuestFiles.Derivation() {
            @Override
            public String path() {
                return "tracer/derived";
            }

            @Override
            public byte @Nullable [] derive(GuestImage image, GuestFiles files) {
                return content;
            }

            @Override
            public GuestFiles.Derivation afresh() {
                return this;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc/passwd", "tracer/../init/init.py", "init/init.py", "tracer.py", "a/b c"})
    void pathsThatReachElsewhereAreRefused(String path) {
        assertThrows(IllegalArgumentException.class, () -> GuestFiles.with(Map.of(path, CONTENT)));
    }

    @Test
    void unknownImagesAreNamed() {
        var unknown = assertThrows(VmException.class, () -> ImageDefinition.named("no-such"));
        assertEquals(VmException.Code.IMAGE_UNKNOWN, unknown.code());
        var unbuilt = assertThrows(VmException.class, () -> new ImageStore(folder).find("default"));
        assertEquals(VmException.Code.IMAGE_UNKNOWN, unbuilt.code());
        var outside = assertThrows(VmException.class, () -> new ImageStore(folder).find("../images"));
        assertEquals(VmException.Code.IMAGE_UNKNOWN, outside.code());
    }

    @Test
    void theShippedLockIsForTheShippedDefinition() throws Exception {
        ImageLock lock = ImageLock.shipped(ImageDefinition.named("default"));
        assertEquals(true, lock != null && lock.packages().size() > 100, "renew images/default.lock");
    }
}
