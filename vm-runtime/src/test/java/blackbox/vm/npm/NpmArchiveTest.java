package blackbox.vm.npm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is unpacked of an npm package's archive, and what is refused.
class NpmArchiveTest {
    @TempDir
    Path folder;

    @Test
    void filesGoWithoutTheirFirstFolderAndModesAreNormal() throws Exception {
        String longName = "a".repeat(120) + "/" + "b".repeat(120);
        unpack(described()
                .file("package/cli.js", 04775, "x")
                .file("package/./lib//deep.js", 0600, "y")
                .file("package/" + longName, 0644, "z")
                .special("package/empty/", TarConstants.LF_DIR, ""));
        assertEquals(
                List.of(longName + " rw-r--r--", "cli.js rwxr-xr-x", "lib/deep.js rw-r--r--", "package.json rw-r--r--"),
                content());
        assertTrue(Files.isDirectory(folder.resolve("tree/empty")));
    }

    @Test
    void pathsThatLeadOutAreRefused() throws Exception {
        for (String path :
                List.of("package/../../evil", "../evil", "package/..", "/etc/evil", "//evil", "package/a\nb", "evil")) {
            refused(described().file(path, 0644, "x"));
        }
        refused(described().file("package/" + "n".repeat(256), 0644, "x"));
        assertEquals(List.of("archive.tgz", "tree"), names(folder));
    }

    @Test
    void nothingButFilesAndFoldersIsTaken() throws Exception {
        for (byte type : new byte[] {
            TarConstants.LF_SYMLINK,
            TarConstants.LF_LINK,
            TarConstants.LF_CHR,
            TarConstants.LF_BLK,
            TarConstants.LF_FIFO,
            TarConstants.LF_CONTIG,
            (byte) 'Z'
        }) {
            refused(described().special("package/odd", type, "/etc/passwd"));
        }
        refused(described()
                .special("package/link", TarConstants.LF_SYMLINK, "..")
                .file("package/link/evil", 0644, "x"));
        assertEquals(List.of("archive.tgz", "tree"), names(folder));
    }

    @Test
    void aPlaceIsAFileOrAFolderAndTheLastFileCounts() throws Exception {
        refused(described().file("package/a", 0644, "x").file("package/a/b", 0644, "y"));
        refused(described().file("package/a/b", 0644, "x").file("package/a", 0644, "y"));
        unpack(described().file("package/a", 0755, "x").file("other/./a", 0644, "y"));
        assertEquals("y", Files.readString(folder.resolve("tree/a")));
        assertEquals(List.of("a rw-r--r--", "package.json rw-r--r--"), content());
    }

    @Test
    void whatIsNoArchiveOrEndsEarlyIsRefused() throws Exception {
        byte[] whole = described().file("package/a", 0644, "x".repeat(100_000)).octets();
        refused(Arrays.copyOf(whole, whole.length / 2));
        refused("no archive".getBytes(StandardCharsets.UTF_8));
        refused(new byte[0]);
        var noTar = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(noTar)) {
            gzip.write("x".repeat(2000).getBytes(StandardCharsets.UTF_8));
        }
        refused(noTar.toByteArray());
        refused(new TestArchive().file("package/index.js", 0644, "x"));
        refused(new TestArchive().file("package/package.json", 0644, "{"));
    }

    @Test
    void scriptsAreRefusedUnlessTheyWereLeftOutKnowingly() throws Exception {
        for (String script : List.of("preinstall", "install", "postinstall")) {
            String description = "{\"scripts\":{\"" + script + "\":\"touch evil\"}}";
            String why = refused(new TestArchive().file("package/package.json", 0644, description));
            assertTrue(why.contains("withoutScripts") && why.contains("some"), why);
        }
        refused(described().file("package/binding.gyp", 0644, "{}"));
        byte[] scripted = new TestArchive()
                .file("package/package.json", 0644, "\uFEFF{\"scripts\":{\"install\":\"touch evil\"}}")
                .octets();
        unpack(
                scripted,
                new NpmPackage(
                        "node_modules/some",
                        "some",
                        "1.0.0",
                        TestArchive.integrity(scripted),
                        new TreeMap<>(),
                        true,
                        true));
        assertEquals(List.of("package.json rw-r--r--"), content());
    }

    private static TestArchive described() throws Exception {
        return new TestArchive().file("package/package.json", 0644, "{\"scripts\":{\"test\":\"x\",\"prepare\":\"y\"}}");
    }

    private void unpack(TestArchive archive) throws Exception {
        byte[] octets = archive.octets();
        unpack(octets, TestArchive.npmPackage("some", octets));
    }

    private void unpack(byte[] octets, NpmPackage npmPackage) throws Exception {
        NpmArchive.unpack(
                npmPackage, Files.write(folder.resolve("archive.tgz"), octets), fresh(folder.resolve("tree")));
    }

    private String refused(TestArchive archive) throws Exception {
        return refused(archive.octets());
    }

    private String refused(byte[] octets) {
        var failure = assertThrows(VmException.class, () -> unpack(octets, TestArchive.npmPackage("some", octets)));
        assertEquals(Code.PACKAGE_REFUSED, failure.code(), failure.getMessage());
        return failure.getMessage();
    }

    private static Path fresh(Path tree) throws Exception {
        if (Files.exists(tree)) {
            try (Stream<Path> all = Files.walk(tree)) {
                for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(each);
                }
            }
        }
        return tree;
    }

    private List<String> content() throws Exception {
        Path tree = folder.resolve("tree");
        try (Stream<Path> all = Files.walk(tree)) {
            var found = new ArrayList<String>();
            for (Path each : all.filter(Files::isRegularFile).sorted().toList()) {
                found.add(tree.relativize(each) + " "
                        + PosixFilePermissions.toString(Files.getPosixFilePermissions(each)));
            }
            return found;
        }
    }

    private static List<String> names(Path folder) throws Exception {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
