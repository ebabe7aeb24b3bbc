package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.define.ImageDefinitions;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageSource;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.npm.NpmArchive;
import blackbox.vm.npm.NpmLock;
import blackbox.vm.npm.NpmPackage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/// What an image is made of that somebody else wrote: archives of npm packages, locks, definitions.
final class ImageTargets {
    private static final String SHA512 = "sha512-" + "A".repeat(86) + "==";

    private ImageTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "npm-archive", 16 << 10, ImageTargets::archive, ImageTargets::archives, VmException.class),
                FuzzTarget.of("npm-lock", 4 << 10, ImageTargets::lock, ImageTargets::locks, VmException.class),
                FuzzTarget.of(
                        "image-definition",
                        4 << 10,
                        ImageTargets::definition,
                        ImageTargets::definitions,
                        VmException.class));
    }

    /// A tar, which is compressed here: a fuzzer would not find its way through gzip.
    private static boolean archive(byte[] tar) throws IOException, VmException {
        var octets = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(octets)) {
            gzip.write(tar);
        }
        Path around = Files.createTempDirectory("fuzz-npm");
        try {
            Path folder = around.resolve("package");
            var npm = new NpmPackage("node_modules/a", "a", "1.0.0", SHA512, new TreeMap<>(), true, true);
            NpmArchive.unpack(npm, Scratch.file("npm-archive", octets.toByteArray()), folder);
            try (Stream<Path> beside = Files.list(around)) {
                ensure(beside.allMatch(folder::equals), "a file beside the package's folder");
            }
            try (Stream<Path> all = Files.walk(folder)) {
                ensure(
                        all.allMatch(each -> Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)
                                || Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)),
                        "something that is neither file nor folder");
            }
            return true;
        } catch (VmException e) {
            ensure(e.code() == Code.PACKAGE_REFUSED, "refused as " + e.code());
            throw e;
        } finally {
            Scratch.delete(around);
        }
    }

    private static Map<String, byte[]> archives() throws IOException {
        return Map.of(
                "posix", tar(TarArchiveOutputStream.LONGFILE_POSIX), "gnu", tar(TarArchiveOutputStream.LONGFILE_GNU));
    }

    private static byte[] tar(int longNames) throws IOException {
        var octets = new ByteArrayOutputStream();
        try (var tar = new TarArchiveOutputStream(octets, StandardCharsets.UTF_8.name())) {
            tar.setLongFileMode(longNames);
            for (String name : List.of("package/package.json", "package/" + "long/".repeat(30) + "name")) {
                var entry = new TarArchiveEntry(name);
                entry.setSize(2);
                tar.putArchiveEntry(entry);
                tar.write(utf8("{}"));
                tar.closeArchiveEntry();
            }
        }
        return octets.toByteArray();
    }

    private static boolean lock(byte[] text) throws VmException {
        NpmLock lock = NpmLock.read(text, "package-lock.json", Set.of());
        var paths = new HashSet<String>();
        for (NpmPackage each : lock.packages()) {
            ensure(paths.add(each.path()), "two packages at one place");
            ensure(Path.of(each.path()).normalize().toString().equals(each.path()), "a path with two readings");
            ensure(each.sha512().length() == 128, "no SHA-512");
        }
        return true;
    }

    private static Map<String, byte[]> locks() {
        String pin = "\"version\": \"1.0.0\", \"integrity\": \"" + SHA512 + "\"";
        return Map.of("tree", utf8("""
                        {"lockfileVersion": 3, "packages": {
                          "": {"dependencies": {"a": "*"}},
                          "node_modules/a": {%1$s, "bin": {"a": "./b/a.js"}},
                          "node_modules/a/node_modules/@s/b": {%1$s, "os": ["linux"], "cpu": "x64"},
                          "node_modules/c": {%1$s, "optional": true, "os": ["darwin"]}}}
                        """.formatted(pin)));
    }

    private static boolean definition(byte[] text) throws IOException, VmException {
        Path data = Files.createTempDirectory("fuzz-definition");
        try {
            // Alone in its folder: it may ask for all that is there.
            Path file = Files.write(
                    Files.createDirectory(data.resolve("definition")).resolve("mine.json"), text);
            ImageSource source = new ImageDefinitions(null).read(file, null);
            Path scratch = Files.createDirectory(data.resolve("scratch"));
            ImageDefinition whole = source.whole(new PackageArchive(data), scratch, _ -> {});
            ImageAdditions additions = whole.additions();
            ensure(ImageDefinition.isName(whole.name()) && additions != null, "an image without a name");
            for (ImageAdditions.AddedFile each :
                    additions == null ? List.<ImageAdditions.AddedFile>of() : additions.files()) {
                ensure(Path.of(each.path()).normalize().toString().equals(each.path()), "a path with two readings");
                ensure(!each.path().startsWith("/usr/bin"), "a package's file");
            }
            return true;
        } catch (VmException e) {
            ensure(e.code() == Code.IMAGE_DEFINITION, "refused as " + e.code() + ": " + e.getMessage());
            throw e;
        } finally {
            Scratch.delete(data);
        }
    }

    private static Map<String, byte[]> definitions() {
        return Map.of("whole", utf8("""
                        // a comment
                        {"format": 1, "name": "mine", "from": "default", "packages": ["jq"],
                         "files": [{"path": "/opt/a", "text": "x", "mode": "0755"},],
                         "environment": {"A": "b"}}
                        """));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
