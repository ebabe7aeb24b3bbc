package blackbox.vm.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.TestRepository;
import blackbox.vm.image.PackageArchive;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// QEMU's lock when the archive has moved on. A program of this machine that prints its version stands in for QEMU,
/// with this machine's loader and C library: they are unpacked and started as QEMU is.
class QemuFetchTest {
    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu";
    private static final Path PROGRAM = Path.of("/usr/bin/pwd");

    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private TestRepository mirror;
    private Path data;
    private QemuLock lock;

    @BeforeEach
    void lockQemu() throws Exception {
        mirror = new TestRepository(folder.resolve("mirror"));
        data = folder.resolve("data");
        lock = QemuLock.of(
                TestRepository.SUITE, List.of(addQemu("1"), addLibrary("libc6", "1"), mirror.add("firmware", "1", "")));
        Path etc = Files.createDirectory(folder.resolve("etc"));
        Files.writeString(etc.resolve("sources.list"), mirror.sources());
    }

    @AfterEach
    void close() {
        mirror.close();
    }

    @Test
    void whatIsAvailableIsTakenAsLockedAndIsTheSameBuildInEveryDataFolder() throws Exception {
        mirror.add("firmware", "2", "");
        QemuBuild build = fetch();
        assertEquals(lock.packages(), build.record().packages());
        assertEquals(List.of(), build.record().lockDifferences());
        assertTrue(
                build.qemu().version().startsWith("pwd (GNU coreutils)"),
                build.qemu().version());
        data = folder.resolve("other data, with a comma");
        assertEquals(build.qemu().digest(), fetch().qemu().digest());
        mirror.close();
        assertEquals(build.qemu().digest(), fetch().qemu().digest(), "the archive has it all");
    }

    @Test
    void aPackageThatIsGoneIsTakenNewerAndGivesAnotherBuild() throws Exception {
        QemuBuild locked = fetch();
        data = folder.resolve("other data");
        mirror.remove("firmware", "1");
        mirror.add("firmware", "2", "");
        addLibrary("libc6", "2");
        QemuBuild renewed = fetch();
        assertEquals(
                List.of(new LockDifference("firmware", "1", "2")),
                renewed.record().lockDifferences());
        assertNotEquals(locked.qemu().digest(), renewed.qemu().digest());
        assertTrue(said.contains("this QEMU will not be the locked one: it differs in 1 package"), said.toString());
        assertEquals(
                List.of(new LockDifference("firmware", "1", "2")),
                new QemuBuilds(data, said::add).list().getFirst().record().lockDifferences(),
                "the record of the build says so as well");
    }

    @Test
    void aRenamedLibraryComesAlong() throws Exception {
        mirror.remove("qemu-system-x86", "1");
        mirror.add("qemu-system-x86", "2", "libc64, firmware", program());
        addLibrary("libc64", "1");
        assertEquals(
                List.of(
                        new LockDifference("libc6", "1", null),
                        new LockDifference("libc64", null, "1"),
                        new LockDifference("qemu-system-x86", "1", "2")),
                fetch().record().lockDifferences());
    }

    @Test
    void aFileWithAnotherDigestIsNotTaken() throws Exception {
        mirror.alter(locked("firmware"));
        mirror.add("firmware", "2", "");
        assertEquals(
                List.of(new LockDifference("firmware", "1", "2")),
                fetch().record().lockDifferences());
        assertTrue(said.contains("firmware 1 could not be used: Hash Sum mismatch"), said.toString());
    }

    @Test
    void aTruncatedDownloadIsRetriedWithoutWhatArrived() throws Exception {
        mirror.add("firmware", "2", "");
        mirror.cut(locked("firmware"));
        var failure = assertThrows(VmException.class, this::fetch);
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("firmware 1"), failure.getMessage());
        assertTrue(new PackageArchive(data).has(locked("qemu-system-x86").sha256()));
        mirror.behave();
        mirror.asked();
        assertEquals(List.of(), fetch().record().lockDifferences());
        assertEquals(List.of("firmware"), mirror.asked());
    }

    @Test
    void anUnreachableMirrorSaysWhatToDo() {
        mirror.close();
        var failure = assertThrows(VmException.class, this::fetch);
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("blackbox image import"), failure.getMessage());
    }

    @Test
    void todaysPackagesAreAskedForByName() throws Exception {
        mirror.add("firmware", "2", "");
        QemuBuild newest = builds().make(parts(), fetch -> fetch.makeNewest(null));
        assertEquals(
                List.of(new LockDifference("firmware", "1", "2")),
                newest.record().lockDifferences());
    }

    @Test
    void anImportedLockComesBeforeTheShippedOneAndNeedsNoMirror() throws Exception {
        QemuBuild exported = fetch();
        mirror.add("firmware", "2", "");
        QemuBuild newer = builds().make(parts(), fetch -> fetch.makeNewest(null));
        Path from = data;
        data = folder.resolve("imported");
        mirror.close();
        for (QemuBuild each : List.of(exported, newer)) {
            CarriedQemu.keep(data, List.of(CarriedQemu.of(each)));
            for (DebFile file : each.record().packages()) {
                Path copy = Files.copy(new PackageArchive(from).path(file.sha256()), folder.resolve(file.sha256()));
                new PackageArchive(data).take(copy);
                Files.deleteIfExists(copy);
            }
        }
        assertEquals(newer.qemu().digest(), fetch().qemu().digest(), "the latest import is the answer");
        assertTrue(builds().withDigest(exported.qemu().digest()) != null, "and the other one is unpacked as well");
        assertEquals(
                List.of(new LockDifference("firmware", "1", "2")),
                builds().list().stream()
                        .filter(each -> each.qemu().digest().equals(newer.qemu().digest()))
                        .findFirst()
                        .orElseThrow()
                        .record()
                        .lockDifferences());
        assertTrue(said.stream().noneMatch(each -> each.contains("digest is not")), said.toString());
    }

    @Test
    void aLibraryOfTheHostIsRefused() throws Exception {
        mirror.remove("libc6", "1");
        mirror.add("libc6", "2", "", Map.of(LIBRARIES + "/ld-linux-x86-64.so.2", real("/lib64/ld-linux-x86-64.so.2")));
        var failure = assertThrows(VmException.class, this::fetch);
        assertEquals(Code.QEMU_MISSING, failure.code());
        assertTrue(failure.getMessage().contains("libc.so.6"), failure.getMessage());
    }

    private DebFile addQemu(String version) throws Exception {
        return mirror.add("qemu-system-x86", version, "libc6, firmware", program());
    }

    private static Map<String, Path> program() {
        return Map.of("usr/bin/qemu-system-x86_64", PROGRAM);
    }

    private DebFile addLibrary(String name, String version) throws Exception {
        return mirror.add(
                name,
                version,
                "",
                Map.of(
                        LIBRARIES + "/ld-linux-x86-64.so.2",
                        real("/lib64/ld-linux-x86-64.so.2"),
                        LIBRARIES + "/libc.so.6",
                        real("/lib/x86_64-linux-gnu/libc.so.6")));
    }

    private static Path real(String path) throws Exception {
        return Path.of(path).toRealPath();
    }

    private DebFile locked(String name) {
        return lock.packages().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private QemuParts parts() {
        return new QemuParts(
                lock,
                List.of("qemu-system-x86"),
                List.of("usr/bin/qemu-system-x86_64", LIBRARIES, "usr/share/firmware"));
    }

    private QemuBuilds builds() {
        return new QemuBuilds(data, folder.resolve("etc"), said::add);
    }

    private QemuBuild fetch() throws VmException {
        return builds().fetch(parts(), null);
    }
}
