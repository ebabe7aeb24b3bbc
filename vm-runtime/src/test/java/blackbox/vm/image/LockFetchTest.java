package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.apt.LockDifference;
import blackbox.vm.apt.PrivateApt;
import blackbox.vm.apt.TestRepository;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What becomes of a lock when the archive moves on: `app` needs `liba` and `libb`, and `liba` needs `liba-data` in
/// exactly its own version.
class LockFetchTest {
    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private TestRepository mirror;
    private PackageArchive archive;
    private List<DebFile> lock;
    private DebFile app;
    private DebFile liba;
    private DebFile libb;

    @BeforeEach
    void lockThePackages() throws Exception {
        mirror = new TestRepository(folder.resolve("mirror"));
        archive = new PackageArchive(folder.resolve("data"));
        app = mirror.add("app", "1:1.0", "liba (>= 1), libb");
        liba = mirror.add("liba", "1", "liba-data (= 1)");
        libb = mirror.add("libb", "1+b1", "");
        lock = List.of(app, liba, mirror.add("liba-data", "1", ""), libb);
    }

    @AfterEach
    void close() {
        mirror.close();
    }

    @Test
    void whatIsAvailableIsTakenAsLockedEvenIfTheMirrorHasNewer() throws Exception {
        mirror.add("libb", "2", "");
        assertEquals(lock, fetched());
        assertEquals(List.of("app", "liba", "liba-data", "libb"), mirror.asked());
        mirror.close();
        assertEquals(lock, fetched(), "the mirror is not asked for what is archived");
    }

    @Test
    void onlyAVersionThatIsGoneIsReplacedByANewerOne() throws Exception {
        mirror.add("app", "1:1.1", "liba (>= 1), libb");
        DebFile newer = mirror.add("libb", "2", "");
        mirror.remove("libb", "1+b1");
        assertEquals(List.of(new LockDifference("libb", "1+b1", "2")), differences());
        assertTrue(archive.has(newer.sha256()));
        assertTrue(said.contains("libb 1+b1 could not be used: the mirror no longer has this version"));
    }

    @Test
    void aDependencyThatANewerPackageNeedsNewerIsTakenNewer() throws Exception {
        mirror.remove("liba", "1");
        mirror.add("liba", "2", "liba-data (= 2)");
        mirror.add("liba-data", "2", "");
        mirror.add("libb", "2", "");
        assertEquals(
                List.of(new LockDifference("liba", "1", "2"), new LockDifference("liba-data", "1", "2")),
                differences());
    }

    @Test
    void aPackageThatNeedsTheVersionThatIsGoneIsTakenNewer() throws Exception {
        DebFile strict = mirror.add("strict", "1", "libb (= 1+b1)");
        lock = List.of(app, liba, lock.get(2), libb, strict);
        mirror.remove("libb", "1+b1");
        mirror.add("libb", "2", "");
        mirror.add("strict", "2", "libb (= 2)");
        mirror.add("liba", "2", "liba-data (= 2)");
        mirror.add("liba-data", "2", "");
        assertEquals(
                List.of(new LockDifference("libb", "1+b1", "2"), new LockDifference("strict", "1", "2")),
                differences("app", "strict"));
    }

    @Test
    void listsThatAreDamagedAreNamed() throws Exception {
        mirror.mangle(libb);
        var why = assertThrows(VmException.class, this::fetched);
        assertEquals(Code.MIRROR, why.code());
        assertEquals(
                "the package mirror's lists are damaged at libb; try again, or name another one with --mirror URL",
                why.getMessage());
    }

    @Test
    void aRenamedDependencyIsTakenUnderItsNewName() throws Exception {
        mirror.remove("app", "1:1.0");
        mirror.add("app", "1:1.1", "liba (>= 1), libb64");
        mirror.add("libb64", "1", "");
        assertEquals(
                List.of(
                        new LockDifference("app", "1:1.0", "1:1.1"),
                        new LockDifference("libb", "1+b1", null),
                        new LockDifference("libb64", null, "1")),
                differences());
    }

    @Test
    void aFileWithAnotherDigestIsNotTakenAndANewerOneIs() throws Exception {
        mirror.add("libb", "2", "");
        mirror.alter(libb);
        assertEquals(List.of(new LockDifference("libb", "1+b1", "2")), differences());
        assertFalse(archive.has(libb.sha256()));
        assertTrue(said.contains("libb 1+b1 could not be used: Hash Sum mismatch"), said.toString());
    }

    @Test
    void anotherFileUnderALockedVersionIsNotTakenForTheLockedOne() throws Exception {
        mirror.remove("libb", "1+b1");
        DebFile other = mirror.add("libb", "1+b1", "liba");
        mirror.add("libb", "2", "");
        assertEquals(List.of(new LockDifference("libb", "1+b1", "2")), differences());
        assertFalse(archive.has(other.sha256()));
        assertTrue(said.toString().contains("has another file under this version"), said.toString());
    }

    @Test
    void aFileThatTheMirrorListsButLacksIsTakenNewer() throws Exception {
        mirror.add("libb", "2", "");
        DebFile lost = mirror.add("libb", "3", "");
        mirror.lose(libb);
        mirror.lose(lost);
        assertEquals(List.of(new LockDifference("libb", "1+b1", "2")), differences(), "3 is listed, and lost too");
    }

    @Test
    void whatIsLostWithoutANewerOneIsNamed() throws Exception {
        mirror.alter(libb);
        var failure = assertThrows(VmException.class, this::fetched);
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("libb"), failure.getMessage());
        assertTrue(failure.getMessage().contains("--mirror"), failure.getMessage());
    }

    @Test
    void aTruncatedDownloadChangesNoPackageAndWhatArrivedIsKept() throws Exception {
        mirror.add("libb", "2", "");
        mirror.cut(libb);
        var failure = assertThrows(VmException.class, this::fetched);
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("libb 1+b1 could not be downloaded completely"), failure.getMessage());
        assertTrue(failure.getMessage().contains("try again"), failure.getMessage());
        lock.stream().filter(each -> !each.equals(libb)).forEach(each -> assertTrue(archive.has(each.sha256())));
        assertFalse(archive.has(libb.sha256()));
        mirror.behave();
        mirror.asked();
        assertEquals(lock, fetched());
        assertEquals(List.of("libb"), mirror.asked(), "the second attempt resumes from there");
    }

    @Test
    void aMirrorThatCannotBeReachedSaysWhatToDo() {
        mirror.close();
        var failure = assertThrows(VmException.class, this::fetched);
        assertEquals(Code.MIRROR, failure.code());
        for (String advice : List.of("check the network", "apt sources", "--mirror URL", "blackbox image import")) {
            assertTrue(failure.getMessage().contains(advice), failure.getMessage());
        }
    }

    @Test
    void aFolderWithAnOddNameWorksToo() throws Exception {
        folder = Files.createDirectory(folder.resolve("a b,'\"%41"));
        archive = new PackageArchive(folder.resolve("data"));
        mirror.remove("libb", "1+b1");
        mirror.add("libb", "2", "");
        assertEquals(List.of(new LockDifference("libb", "1+b1", "2")), differences());
    }

    private List<LockDifference> differences(String... wanted) throws Exception {
        return LockDifference.between(lock, fetched(wanted));
    }

    /// The lock's packages, or the nearest that are available.
    private List<DebFile> fetched(String... wanted) throws VmException {
        try (var scratch = ScratchFolder.in(folder.resolve("data"), "scratch-");
                var fetch = new LockFetch(
                        archive, said::add, () -> PrivateApt.open(scratch.path(), mirror.sources(), "amd64"))) {
            Map<DebFile, String> gone = fetch.take(lock);
            return gone.isEmpty()
                    ? lock
                    : fetch.renew(wanted.length == 0 ? List.of("app") : List.of(wanted), lock, gone);
        }
    }
}
