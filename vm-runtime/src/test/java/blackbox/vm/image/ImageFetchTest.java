package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.apt.TestRepository;
import blackbox.vm.image.ImageLock.PackageUse;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An image's lock when the archive has moved on: its packages, and its kernel with the headers.
class ImageFetchTest {
    private static final ImageDefinition DEFINITION = new ImageDefinition(
            1,
            "small",
            TestRepository.SUITE,
            "amd64",
            List.of("app"),
            "linux-image-cloud",
            "linux-headers-cloud",
            List.of(),
            List.of());

    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private TestRepository mirror;
    private PackageArchive archive;
    private ImageLock lock;

    @BeforeEach
    void lockTheImage() throws Exception {
        mirror = new TestRepository(folder.resolve("mirror"));
        archive = new PackageArchive(folder.resolve("data"));
        mirror.addEssential("base", "1");
        mirror.add("app", "1", "lib");
        mirror.add("lib", "1", "");
        addKernel("6.1.0-1", "1");
        lock = with(packages -> packages.newest(null));
        assertEquals(
                List.of(
                        "app",
                        "base",
                        "lib",
                        "linux-headers-6.1.0-1-cloud",
                        "linux-headers-6.1.0-1-common",
                        "linux-image-6.1.0-1-cloud"),
                names(lock));
        archive = new PackageArchive(folder.resolve("other data"));
    }

    @AfterEach
    void close() {
        mirror.close();
    }

    @Test
    void todaysPackagesAreTheLockIfNothingChanged() throws Exception {
        assertSame(lock, with(packages -> packages.newest(lock)));
        assertSame(lock, with(packages -> packages.nearest(lock)));
    }

    @Test
    void replacingAPackageThatIsGoneGivesAnotherLockOfTheSameEpoch() throws Exception {
        mirror.remove("lib", "1");
        mirror.add("lib", "2", "");
        mirror.add("app", "2", "lib");
        addKernel("6.1.0-2", "2");
        ImageLock renewed = with(packages -> packages.nearest(lock));
        assertNotEquals(lock, renewed);
        assertEquals(lock.epoch(), renewed.epoch());
        assertEquals(List.of(new LockDifference("lib", "1", "2")), differences(renewed));
        assertTrue(said.contains("the image will not be the locked one: it differs in 1 package"), said.toString());
        assertTrue(said.contains("  lib 1 → 2"), said.toString());
        assertTrue(renewed.isFor(DEFINITION));
        assertEquals(renewed, with(packages -> packages.nearest(lock)), "and the same again from the archive");
    }

    /// A definition that is based on another one wants more; all that the other one's lock has stays as it is.
    @Test
    void whatIsWantedBesidesALockIsAddedToIt() throws Exception {
        mirror.add("lib", "2", "");
        mirror.add("more", "1", "lib, extra");
        mirror.add("extra", "1", "");
        ImageDefinition more = DEFINITION.extended("mine", List.of("more", "app"));
        ImageLock added = with(more, packages -> packages.nearest(lock));
        assertEquals(
                List.of(new LockDifference("extra", null, "1"), new LockDifference("more", null, "1")),
                differences(added));
        assertEquals(lock.epoch(), added.epoch());
        assertTrue(added.isFor(more) && !lock.isFor(more));
        mirror.add("more", "2", "");
        assertSame(added, with(more, packages -> packages.nearest(added)), "its own lock counts from then on");
    }

    @Test
    void theKernelGoesWithItsHeaders() throws Exception {
        mirror.remove("linux-headers-6.1.0-1-common", "1");
        addKernel("6.1.0-2", "2");
        mirror.add("lib", "2", "");
        ImageLock renewed = with(packages -> packages.nearest(lock));
        assertEquals(
                List.of(
                        "app",
                        "base",
                        "lib",
                        "linux-headers-6.1.0-2-cloud",
                        "linux-headers-6.1.0-2-common",
                        "linux-image-6.1.0-2-cloud"),
                names(renewed));
        assertEquals(lock.packages(PackageUse.ROOT), renewed.packages(PackageUse.ROOT));
        assertEquals(1, renewed.packages(PackageUse.KERNEL).size());
        assertEquals(2, renewed.packages(PackageUse.HEADERS).size());
    }

    @Test
    void aRenamedDependencyComesAlong() throws Exception {
        mirror.remove("app", "1");
        mirror.add("app", "2", "lib64");
        mirror.add("lib64", "1", "");
        assertEquals(
                List.of(
                        new LockDifference("app", "1", "2"),
                        new LockDifference("lib", "1", null),
                        new LockDifference("lib64", null, "1")),
                differences(with(packages -> packages.nearest(lock))));
    }

    @Test
    void aFileWithAnotherDigestIsNotTaken() throws Exception {
        mirror.alter(locked("lib"));
        mirror.add("lib", "2", "");
        assertEquals(
                List.of(new LockDifference("lib", "1", "2")), differences(with(packages -> packages.nearest(lock))));
        assertFalse(archive.has(locked("lib").sha256()));
    }

    @Test
    void requiringTheLockGivesItOrNamesWhatIsMissing() throws Exception {
        mirror.add("lib", "2", "");
        with(packages -> {
            packages.exactly(lock);
            return lock;
        });
        archive = new PackageArchive(folder.resolve("third data"));
        mirror.remove("lib", "1");
        var failure = assertThrows(
                VmException.class,
                () -> with(packages -> {
                    packages.exactly(lock);
                    return lock;
                }));
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("lib 1 (the mirror no longer has"), failure.getMessage());
        assertTrue(archive.has(locked("app").sha256()), "what arrived is kept");
    }

    @Test
    void aTruncatedDownloadOrAnUnreachableMirrorChangesNoImage() throws Exception {
        mirror.add("lib", "2", "");
        mirror.cut(locked("lib"));
        var cut = assertThrows(VmException.class, () -> with(packages -> packages.nearest(lock)));
        assertEquals(Code.MIRROR, cut.code());
        assertTrue(archive.has(locked("linux-image-6.1.0-1-cloud").sha256()), "what arrived is kept");
        mirror.close();
        var away = assertThrows(VmException.class, () -> with(packages -> packages.nearest(lock)));
        assertEquals(Code.MIRROR, away.code());
        assertTrue(away.getMessage().contains("check the network"), away.getMessage());
    }

    private void addKernel(String release, String version) throws Exception {
        mirror.add("linux-image-cloud", version, "linux-image-" + release + "-cloud");
        mirror.add("linux-headers-cloud", version, "linux-headers-" + release + "-cloud");
        mirror.add("linux-image-" + release + "-cloud", version, "initramfs-tools");
        mirror.add("linux-headers-" + release + "-cloud", version, "linux-headers-" + release + "-common, gcc");
        mirror.add("linux-headers-" + release + "-common", version, "");
    }

    private DebFile locked(String name) {
        return lock.files().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private List<LockDifference> differences(ImageLock renewed) {
        return LockDifference.between(lock.files(), renewed.files());
    }

    private static List<String> names(ImageLock lock) {
        return lock.files().stream().map(DebFile::name).toList();
    }

    @FunctionalInterface
    private interface Step {
        ImageLock of(ImageFetch packages) throws VmException;
    }

    private ImageLock with(Step step) throws VmException {
        return with(DEFINITION, step);
    }

    private ImageLock with(ImageDefinition definition, Step step) throws VmException {
        try (var scratch = ScratchFolder.in(folder, "scratch-");
                var fetch = new LockFetch(
                        archive, said::add, () -> PrivateApt.open(scratch.path(), mirror.sources(), "amd64"))) {
            return step.of(new ImageFetch(
                    definition, fetch, InstantSource.fixed(Instant.parse("2026-11-23T12:00:00Z")), said::add));
        }
    }
}
