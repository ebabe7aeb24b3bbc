package blackbox.vm.npm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Packages fetched by the real npm from a registry on loopback.
class NpmFetchTest {
    @TempDir
    Path folder;

    private final Map<String, byte[]> taken = new TreeMap<>();
    private TestRegistry registry;

    @BeforeEach
    void open() throws Exception {
        registry = new TestRegistry();
    }

    @AfterEach
    void close() {
        registry.close();
    }

    @Test
    void archivesArriveAsTheyWerePublished() throws Exception {
        // npm names the files of the first two alike.
        byte[] one = TestArchive.of("@a/b-c", "1.0.0", "one").octets();
        byte[] two = TestArchive.of("@a-b/c", "1.0.0", "two").octets();
        byte[] plain = TestArchive.of("plain", "1.0.0", "plain").octets();
        var wanted = List.of(
                registry.publish("@a/b-c", one), registry.publish("@a-b/c", two), registry.publish("plain", plain));
        fetch(wanted);
        assertArrayEquals(one, taken.get("@a/b-c"));
        assertArrayEquals(two, taken.get("@a-b/c"));
        assertArrayEquals(plain, taken.get("plain"));
    }

    @Test
    void anArchiveThatIsNotTheLockedOneIsNotUsed() throws Exception {
        NpmPackage locked =
                registry.publish("some", TestArchive.of("some", "1.0.0", "good").octets());
        registry.serve("some", TestArchive.of("some", "1.0.0", "evil").octets());
        var failure = assertThrows(VmException.class, () -> fetch(List.of(locked)));
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("some@1.0.0 is not the locked one"), failure.getMessage());
        assertEquals(Map.of(), taken);
    }

    @Test
    void whatIsMissingIsNamedAndTheRestIsKept() throws Exception {
        NpmPackage there =
                registry.publish("there", TestArchive.of("there", "1.0.0", "x").octets());
        NpmPackage gone = TestArchive.npmPackage("gone", new byte[1]);
        var failure = assertThrows(VmException.class, () -> fetch(List.of(there, gone)));
        assertEquals(Code.MIRROR, failure.code());
        assertTrue(failure.getMessage().contains("npm could not fetch gone@1.0.0"), failure.getMessage());
        assertTrue(failure.getMessage().contains("404"), failure.getMessage());
    }

    @Test
    void theDefinitionsFolderSaysWhichRegistry() throws Exception {
        NpmPackage wanted =
                registry.publish("some", TestArchive.of("some", "1.0.0", "x").octets());
        Path project = Files.createDirectories(folder.resolve("project"));
        Files.writeString(project.resolve("package.json"), "{}");
        Files.writeString(project.resolve(".npmrc"), "registry=" + registry.url() + "\n");
        new NpmFetch(folder.resolve("scratch"), project, null, _ -> {}).fetch(List.of(wanted), this::take);
        assertEquals(List.of("some"), List.copyOf(taken.keySet()));
    }

    /// npm would put variables of the user's environment where a stranger's configuration says.
    @Test
    void theDefinitionsFolderSaysNothingElse() throws Exception {
        NpmPackage wanted =
                registry.publish("some", TestArchive.of("some", "1.0.0", "x").octets());
        for (String line : List.of(
                "registry=http://127.0.0.1:1/${HOME}/", "https-proxy=http://127.0.0.1:1", "//x/:_authToken=1")) {
            Files.writeString(folder.resolve(".npmrc"), "# mine\n" + line + "\n");
            var failure = assertThrows(VmException.class, () -> fetch(List.of(wanted)), line);
            assertEquals(Code.IMAGE_DEFINITION, failure.code(), line);
            assertTrue(failure.getMessage().contains("may only name registries"), failure.getMessage());
        }
        assertEquals(List.of(), List.copyOf(taken.keySet()));
    }

    private void fetch(List<NpmPackage> wanted) throws VmException {
        var said = new ArrayList<String>();
        new NpmFetch(folder.resolve("scratch"), folder, registry.url(), said::add).fetch(wanted, this::take);
        assertEquals("fetched 3 of 3 npm packages", said.getLast());
    }

    private void take(NpmPackage npmPackage, Path archive) throws VmException {
        try {
            taken.put(npmPackage.name(), Files.readAllBytes(archive));
            Files.delete(archive);
        } catch (java.io.IOException e) {
            throw new VmException(Code.IO, "the test's archive", e);
        }
    }
}
