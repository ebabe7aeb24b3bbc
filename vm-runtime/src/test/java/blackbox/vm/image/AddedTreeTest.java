package blackbox.vm.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.Command;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.ImageAdditions.AddedFile;
import blackbox.vm.image.ImageAdditions.AddedObject;
import blackbox.vm.image.ImageAdditions.AddedPackage;
import blackbox.vm.npm.NpmLock;
import blackbox.vm.npm.NpmPackage;
import blackbox.vm.npm.TestArchive;
import blackbox.vm.npm.TestRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Where what a definition adds goes in the root.
class AddedTreeTest {
    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private PackageArchive archive;

    @BeforeEach
    void open() {
        archive = new PackageArchive(folder.resolve("data"));
    }

    @Test
    void packagesCommandsFilesAndVariablesHaveTheirPlaces() throws Exception {
        var additions = additions(
                List.of(
                        added("node_modules/@s/a", "@s/a", Map.of("a", "bin/run.sh", "gone", "nosuch"), true),
                        added("node_modules/b", "b", Map.of("b", "bin/run.sh"), false),
                        added("node_modules/b/node_modules/c", "c", Map.of("c", "bin/run.sh"), false)),
                List.of(file("/usr/local/bin/own", "0755", "own"), file("/home/agent/.x/y", "0600", "y")),
                Map.of("A", "one two", "B", "x\ny"));
        assertEquals(Set.of("a"), lay(additions, "one"));
        assertEquals(
                List.of(
                        "etc/blackbox/environment rw-r--r--",
                        "home/agent/.x/y rw-------",
                        "opt/npm/node_modules/.bin/a → ../@s/a/bin/run.sh",
                        "opt/npm/node_modules/.bin/b → ../b/bin/run.sh",
                        "opt/npm/node_modules/@s/a/bin/run.sh rwxr-xr-x",
                        "opt/npm/node_modules/@s/a/package.json rw-r--r--",
                        "opt/npm/node_modules/b/bin/run.sh rwxr-xr-x",
                        "opt/npm/node_modules/b/node_modules/.bin/c → ../c/bin/run.sh",
                        "opt/npm/node_modules/b/node_modules/c/bin/run.sh rwxr-xr-x",
                        "opt/npm/node_modules/b/node_modules/c/package.json rw-r--r--",
                        "opt/npm/node_modules/b/package.json rw-r--r--",
                        "usr/local/bin/a → ../../../opt/npm/node_modules/@s/a/bin/run.sh",
                        "usr/local/bin/own rwxr-xr-x"),
                content("one"));
        assertEquals("A=one two\0B=x\ny\0", Files.readString(folder.resolve("one/etc/blackbox/environment")));
        assertTrue(said.contains("@s/a@1.0.0 has no nosuch, so its command 'gone' is left out"), said.toString());
        lay(additions, "two");
        assertEquals(
                FolderFingerprint.of(folder.resolve("one")).sha256(),
                FolderFingerprint.of(folder.resolve("two")).sha256());
    }

    /// The oracle: the real npm installs the same lock from a registry on loopback.
    @Test
    void theTreeIsTheOneThatNpmInstalls() throws Exception {
        Path project = Files.createDirectory(folder.resolve("project"));
        var additions = new ArrayList<AddedPackage>();
        try (var registry = new TestRegistry()) {
            for (String name : List.of("@some/tool", "plain", "other")) {
                byte[] octets = TestArchive.of(name, "1.0.0", name)
                        .file("package/lib/executable", 0711, "x")
                        .file("package/./lib/twice", 0644, "first")
                        .file("package/lib/twice", 0600, "second")
                        .octets();
                registry.publish(name, octets);
                archive.take(Files.write(folder.resolve("archive.tgz"), octets), sha512(name, octets));
            }
            byte[] lock = registry.lock(Map.of("@some/tool", "tool", "plain", "plain"))
                    .getBytes(StandardCharsets.UTF_8);
            Files.write(project.resolve("package-lock.json"), lock);
            Files.writeString(
                    project.resolve("package.json"),
                    "{\"dependencies\": {\"@some/tool\": \"1.0.0\", \"plain\": \"1.0.0\", \"other\": \"1.0.0\"}}");
            for (NpmPackage each :
                    NpmLock.read(lock, "package-lock.json", Set.of()).packages()) {
                String sha256 = Objects.requireNonNull(archive.find(each.sha512()));
                additions.add(new AddedPackage(each, new AddedObject(sha256, archive.bytes(sha256))));
            }
            new Command(
                            List.of("npm", "ci", "--ignore-scripts", "--no-audit", "--registry=" + registry.url()),
                            project,
                            Map.of("npm_config_cache", folder.resolve("cache").toString()),
                            Duration.ofMinutes(2))
                    .run();
        }
        lay(additions(additions, List.of(), Map.of()), "ours");
        Files.delete(project.resolve("node_modules/.package-lock.json")); // a note of npm's own
        List<String> ours = content("ours/opt/npm/node_modules");
        assertEquals(content("project/node_modules"), ours);
        assertEquals(3 * 4 + 2, ours.size(), ours.toString());
        Path twice = Path.of("node_modules/plain/lib/twice");
        assertEquals(
                Files.readString(project.resolve(twice)),
                Files.readString(folder.resolve("ours/opt/npm").resolve(twice)));
    }

    private static String sha512(String name, byte[] octets) throws Exception {
        return TestArchive.npmPackage(name, octets).sha512();
    }

    @Test
    void whatIsInTheWayIsRefused() throws Exception {
        byte[] bundling = TestArchive.of("b", "1.0.0", "b")
                .file("package/node_modules/c/package.json", 0644, "{}")
                .octets();
        refused(
                Code.PACKAGE_REFUSED,
                "in the archive of the package above it",
                additions(
                        List.of(
                                added("node_modules/b", "b", bundling, Map.of(), false),
                                added("node_modules/b/node_modules/c", "c", Map.of(), false)),
                        List.of(),
                        Map.of()));
        refused(
                Code.PACKAGE_REFUSED,
                "two of the npm packages bring a command 'x'",
                additions(
                        List.of(
                                added("node_modules/a", "a", Map.of("x", "bin/run.sh"), true),
                                added("node_modules/b", "b", Map.of("x", "bin/run.sh"), true)),
                        List.of(),
                        Map.of()));
        refused(
                Code.IMAGE_DEFINITION,
                "two things at /usr/local/bin/x",
                additions(
                        List.of(added("node_modules/a", "a", Map.of("x", "bin/run.sh"), true)),
                        List.of(file("/usr/local/bin/x", "0755", "x")),
                        Map.of()));
    }

    @Test
    void anArchivedPackageThatIsNotTheLockedOneIsRefused() throws Exception {
        AddedPackage good = added("node_modules/a", "a", Map.of(), true);
        AddedPackage other = added("node_modules/b", "b", Map.of(), true);
        refused(
                Code.IMAGE_CORRUPT,
                "a@1.0.0 is not the one of the lock",
                additions(List.of(new AddedPackage(good.npm(), other.object())), List.of(), Map.of()));
        Files.writeString(archive.path(good.object().sha256()), "changed");
        refused(Code.IMAGE_CORRUPT, "has changed", additions(List.of(good), List.of(), Map.of()));
    }

    private void refused(Code code, String why, ImageAdditions additions) throws Exception {
        Path scratch = Files.createTempDirectory(folder, "scratch");
        Path root = Files.createDirectory(scratch.resolve("root"));
        var failure =
                assertThrows(VmException.class, () -> new AddedTree(additions, archive, root).lay(scratch, said::add));
        assertEquals(code, failure.code());
        assertTrue(failure.getMessage().contains(why), failure.getMessage());
    }

    private Set<String> lay(ImageAdditions additions, String root) throws Exception {
        return new AddedTree(additions, archive, Files.createDirectory(folder.resolve(root))).lay(folder, said::add);
    }

    private static ImageAdditions additions(
            List<AddedPackage> npm, List<AddedFile> files, Map<String, String> environment) {
        return new ImageAdditions("default", npm, files, new TreeMap<>(environment), new TreeMap<>());
    }

    private AddedPackage added(String path, String name, Map<String, String> bin, boolean direct) throws Exception {
        return added(path, name, TestArchive.of(name, "1.0.0", name).octets(), bin, direct);
    }

    private AddedPackage added(String path, String name, byte[] octets, Map<String, String> bin, boolean direct)
            throws Exception {
        var npm = new NpmPackage(path, name, "1.0.0", TestArchive.integrity(octets), new TreeMap<>(bin), direct, false);
        return new AddedPackage(npm, new AddedObject(archive.take(octets), octets.length));
    }

    private AddedFile file(String path, String mode, String content) throws Exception {
        byte[] octets = content.getBytes(StandardCharsets.UTF_8);
        return new AddedFile(path, mode, new AddedObject(archive.take(octets), octets.length));
    }

    private List<String> content(String root) throws Exception {
        Path tree = folder.resolve(root);
        var found = new ArrayList<String>();
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path each : all.sorted().toList()) {
                String name = tree.relativize(each).toString();
                if (Files.isSymbolicLink(each)) {
                    assertTrue(Files.exists(each), name + " leads nowhere");
                    found.add(name + " → " + Files.readSymbolicLink(each));
                } else if (Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)) {
                    found.add(name + " " + PosixFilePermissions.toString(Files.getPosixFilePermissions(each)));
                }
            }
        }
        return found;
    }
}
