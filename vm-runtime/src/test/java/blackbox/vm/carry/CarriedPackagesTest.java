package blackbox.vm.carry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.vm.Command;
import blackbox.vm.FileFingerprint;
import blackbox.vm.FolderFingerprint;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.apt.DebFile;
import blackbox.vm.carry.ArchiveForm.Label;
import blackbox.vm.carry.ImageExport.Existing;
import blackbox.vm.image.CarriedImage;
import blackbox.vm.image.GuestImage;
import blackbox.vm.image.GuestImage.ImageRecord;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageAdditions.AddedFile;
import blackbox.vm.image.ImageAdditions.AddedObject;
import blackbox.vm.image.ImageAdditions.AddedPackage;
import blackbox.vm.image.ImageDefinition;
import blackbox.vm.image.ImageLock;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import blackbox.vm.image.ImageStore;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.npm.TestArchive;
import blackbox.vm.qemu.CarriedQemu;
import blackbox.vm.qemu.QemuBuild.BuildRecord;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The file that carries packages: intact, it is accepted; with any octet changed, it is refused.
class CarriedPackagesTest {
    private static final String DIGEST =
            Hash.sha256("an image".getBytes(StandardCharsets.UTF_8)).toString();
    private static final ImageDefinition DEFINITION = new ImageDefinition(
            1, "small", "trixie", "amd64", List.of("app"), "linux-image", "linux-headers", List.of(), List.of());

    @TempDir
    Path folder;

    private final List<String> said = new ArrayList<>();
    private Path from;
    private Path to;
    private Path file;

    @BeforeEach
    void haveAnImageAndAQemu() throws Exception {
        from = folder.resolve("from");
        to = folder.resolve("to");
        file = folder.resolve("small.bbimage");
        var packages = List.of(locked("app", 700), locked("lib", 512), locked("linux-image-6", 1));
        String inputs = "trixie\namd64\napp\nlinux-image\nlinux-headers";
        var lock = new ImageLock(
                1, Hash.sha256(inputs.getBytes(StandardCharsets.UTF_8)).toString(), 1_800_000_000, packages);
        imageOf(DEFINITION, lock);
        unpackQemu();
    }

    private void imageOf(ImageDefinition definition, ImageLock lock) throws Exception {
        String guest = archived("a guest's file".getBytes(StandardCharsets.UTF_8));
        Path place = Files.createDirectories(from.resolve("images/small"));
        Path part = Files.writeString(place.resolve("part"), "");
        Json.write(
                place.resolve("image.json"),
                new ImageRecord(
                        1,
                        DIGEST,
                        "2026-11-23T00:00:00Z",
                        definition,
                        lock,
                        Map.of(
                                GuestImage.KERNEL, FileFingerprint.of(part),
                                GuestImage.INITRD, FileFingerprint.of(part),
                                GuestImage.ROOT, FileFingerprint.of(part)),
                        Map.of("init/init.py", guest),
                        false,
                        List.of(),
                        Map.of("dpkg", "1.21")));
    }

    private void unpackQemu() throws Exception {
        Path root = Files.createDirectories(from.resolve("qemu/made/root"));
        Files.writeString(root.resolve("program"), "a program");
        var seal = FolderFingerprint.of(root);
        var deb = locked("qemu-system-x86", 2000);
        Json.write(
                from.resolve("qemu/made/build.json"),
                new BuildRecord(
                        1,
                        "QEMU 10",
                        "trixie",
                        seal,
                        List.of(new DebFile(deb.name(), deb.version(), deb.architecture(), deb.sha256(), deb.bytes())),
                        List.of()));
    }

    private LockedPackage locked(String name, int bytes) throws Exception {
        var octets = new byte[bytes];
        new Random(name.hashCode()).nextBytes(octets);
        return new LockedPackage(
                name,
                "1:1.0",
                "amd64",
                archived(octets),
                bytes,
                name.startsWith("linux") ? PackageUse.KERNEL : PackageUse.ROOT);
    }

    private String archived(byte[] octets) throws Exception {
        return new PackageArchive(from).take(Files.write(folder.resolve("object"), octets));
    }

    @Test
    void whatIsExportedIsImported() throws Exception {
        var written = new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        var taken = new ImageImport(to, said::add).take(file);
        assertEquals(written.digest(), taken.digest());
        assertEquals(5, taken.fresh());
        assertEquals(objects(from), objects(to));
        CarriedImage carried = CarriedImage.find(to, "small");
        assertTrue(carried != null
                && carried.digest().equals(DIGEST)
                && carried.definition().equals(DEFINITION));
        assertEquals("QEMU 10", CarriedQemu.list(to).getFirst().version());
        assertEquals(0, new ImageImport(to, said::add).take(file).fresh(), "again, nothing is new");
        assertEquals(1, CarriedQemu.list(to).size());
    }

    @Test
    void whatADefinitionAddsIsCarriedToo() throws Exception {
        byte[] npm = TestArchive.of("some", "1.0.0", "x").octets();
        var one = new AddedPackage(TestArchive.npmPackage("some", npm), new AddedObject(archived(npm), npm.length));
        byte[] text = "text".getBytes(StandardCharsets.UTF_8);
        var two = new AddedFile("/opt/file", "0644", new AddedObject(archived(text), text.length));
        var three = new TreeMap<>(Map.of(
                "small.json", new AddedObject(archived("{}".getBytes(StandardCharsets.UTF_8)), 2)));
        var environment = new TreeMap<>(Map.of("A", "1"));
        ImageDefinition definition =
                DEFINITION.with(new ImageAdditions("default", List.of(one), List.of(two), environment, three));
        imageOf(definition, new ImageStore(from).recorded("small").record().lock());
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        assertEquals(8, new ImageImport(to, said::add).take(file).fresh());
        assertEquals(objects(from), objects(to));
        CarriedImage carried = CarriedImage.find(to, "small");
        assertTrue(carried != null && carried.definition().equals(definition));
        assertEquals(
                one.object().sha256(), new PackageArchive(to).find(one.npm().sha512()));

        Files.writeString(new PackageArchive(from).path(one.object().sha256()), "x".repeat(npm.length));
        var changed = assertThrows(
                VmException.class, () -> new ImageExport(from, said::add).write("small", file, Existing.REPLACE));
        assertTrue(changed.getMessage().contains("the npm package some@1.0.0"), changed.getMessage());
    }

    @Test
    void aMissingFileAndAFolderAreRefusedWithoutATrace() {
        for (Path each : List.of(file, folder)) {
            var failure = assertThrows(VmException.class, () -> new ImageImport(to, said::add).take(each));
            assertEquals(Code.ARCHIVE_REFUSED, failure.code());
        }
        assertFalse(Files.exists(to));
    }

    @Test
    void theFileIsAnOrdinaryArchiveForOtherTools() throws Exception {
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        List<String> names =
                Command.of("tar", "-tf", file.toString()).run().lines().toList();
        assertEquals(List.of("blackbox-image-archive", "manifest.json"), names.subList(0, 2));
        assertEquals(objects(from).stream().map(each -> "sha256/" + each).toList(), names.subList(2, names.size()));
    }

    @Test
    void theSameContentGivesTheSameFile() throws Exception {
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        byte[] first = Files.readAllBytes(file);
        new ImageExport(from, said::add).write("small", file, Existing.REPLACE);
        assertTrue(Arrays.equals(first, Files.readAllBytes(file)));
    }

    @Test
    void aFileIsNotReplacedUnasked() throws Exception {
        Files.writeString(file, "precious");
        var failure = assertThrows(
                VmException.class, () -> new ImageExport(from, said::add).write("small", file, Existing.REFUSE));
        assertEquals(Code.IMAGE_DEFINITION, failure.code());
        assertEquals("precious", Files.readString(file));
    }

    @Test
    void anArchivedPackageThatChangedIsNotCarried() throws Exception {
        Path object = new PackageArchive(from).path(locked("app", 700).sha256());
        byte[] octets = Files.readAllBytes(object);
        octets[300] ^= 1;
        for (byte[] changed : List.of(octets, Arrays.copyOf(octets, 699), Arrays.copyOf(octets, 701))) {
            Files.write(object, changed);
            var failure = assertThrows(
                    VmException.class, () -> new ImageExport(from, said::add).write("small", file, Existing.REFUSE));
            assertEquals(Code.IMAGE_CORRUPT, failure.code());
            assertTrue(failure.getMessage().contains("has changed"), failure.getMessage());
        }
        Files.delete(object);
        var lost = assertThrows(
                VmException.class, () -> new ImageExport(from, said::add).write("small", file, Existing.REFUSE));
        assertTrue(lost.getMessage().contains("the archive lacks"), lost.getMessage());
        try (Stream<Path> left = Files.list(folder)) {
            assertTrue(left.noneMatch(each -> each.toString().contains("bbimage")), "nothing is left");
        }
    }

    @Test
    void everyOctetCounts() throws Exception {
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        byte[] whole = Files.readAllBytes(file);
        long seed = System.nanoTime();
        var random = new Random(seed);
        var places = new ArrayList<Integer>();
        for (int at = 0; at < whole.length; at += 1 + random.nextInt(61)) {
            places.add(at);
        }
        for (int at : places) {
            byte[] changed = whole.clone();
            changed[at] ^= (byte) (1 << random.nextInt(8));
            refused(changed, "octet " + at + " of " + whole.length + ", seed " + seed);
        }
    }

    @Test
    void aTruncatedOrExtendedFileIsRefused() throws Exception {
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0;
                length < whole.length;
                length += length < 2048 || length > whole.length - 2048 ? 101 : 509) {
            refused(Arrays.copyOf(whole, length), "cut to " + length);
        }
        refused(Arrays.copyOf(whole, whole.length - 1), "cut by one");
        refused(Arrays.copyOf(whole, whole.length + 1), "one longer");
    }

    private void refused(byte[] octets, String what) throws Exception {
        Files.write(file, octets);
        var failure = assertThrows(VmException.class, () -> new ImageImport(to, said::add).take(file), what);
        assertTrue(
                failure.code() == Code.ARCHIVE_ALTERED || failure.code() == Code.ARCHIVE_REFUSED,
                what + ": " + failure.getMessage());
        boolean named = octets.length >= 22
                && new String(octets, 0, 22, StandardCharsets.ISO_8859_1).equals("blackbox-image-archive");
        if (named) {
            boolean otherVersion = failure.getMessage().contains("image archive of version");
            assertEquals(
                    otherVersion ? Code.ARCHIVE_REFUSED : Code.ARCHIVE_ALTERED, failure.code(), failure.getMessage());
        }
        assertFalse(Files.exists(to.resolve("archive/sha256")), what);
        assertFalse(Files.exists(to.resolve("archive/locks")), what);
        try (Stream<Path> left = Files.list(to.resolve("archive"))) {
            assertEquals(
                    List.of("lock"),
                    left.map(each -> each.getFileName().toString()).toList(),
                    what);
        }
    }

    @Test
    void anInvalidManifestWithTheRightDigestIsRefused() throws Exception {
        new ImageExport(from, said::add).write("small", file, Existing.REFUSE);
        ObjectNode good = manifest();
        refusedManifest(good.deepCopy().put("format", 2), "format 2 is not known");
        var twice = good.deepCopy();
        twice.withArray("objects").add(good.get("objects").get(0));
        refusedManifest(twice, "not sorted, or one is listed twice");
        var more = good.deepCopy();
        more.withArray("objects").addObject().put("sha256", "f".repeat(64)).put("bytes", 1);
        refusedManifest(more, "not the ones that its locks name");
        var longer = good.deepCopy();
        ((ObjectNode) longer.withArray("objects").get(0)).put("bytes", 5L << 30);
        refusedManifest(longer, "an object of");
        var outside = good.deepCopy();
        ((ObjectNode) outside.withArray("objects").get(0)).put("sha256", "../../" + "f".repeat(58));
        refusedManifest(outside, "");
        var named = good.deepCopy();
        ((ObjectNode) named.at("/image/definition")).put("name", "../evil");
        refusedManifest(named, "the name '../evil'");
        var package_ = good.deepCopy();
        ((ObjectNode) package_.at("/image/lock/packages/0")).put("name", "../evil");
        refusedManifest(package_, "the package '../evil'");
        var suite = good.deepCopy();
        ((ObjectNode) suite.at("/qemu/0")).put("suite", "trixie main\ndeb http://evil.test x");
        refusedManifest(suite, "no suite");
        refusedManifest(Json.object(), "");
    }

    private ObjectNode manifest() throws Exception {
        byte[] whole = Files.readAllBytes(file);
        int length = Label.length(ArchiveForm.VERSION);
        Label label = Label.of(Arrays.copyOfRange(whole, ArchiveForm.BLOCK, ArchiveForm.BLOCK + length));
        assertTrue(label != null);
        int at = 3 * ArchiveForm.BLOCK;
        return (ObjectNode) Json.parse(new String(whole, at, label.bytes(), StandardCharsets.UTF_8));
    }

    private void refusedManifest(ObjectNode manifest, String because) throws Exception {
        byte[] text = manifest.toString().getBytes(StandardCharsets.UTF_8);
        byte[] label = new Label(ArchiveForm.VERSION, Hash.sha256(text), text.length).octets();
        var out = new ByteArrayOutputStream();
        out.writeBytes(ArchiveForm.header(ArchiveForm.FIRST, label.length));
        out.writeBytes(Arrays.copyOf(label, ArchiveForm.BLOCK));
        out.writeBytes(ArchiveForm.header(ArchiveForm.MANIFEST, text.length));
        out.writeBytes(Arrays.copyOf(text, text.length + ArchiveForm.padding(text.length)));
        Path made = Files.write(folder.resolve("made"), out.toByteArray());
        var failure = assertThrows(VmException.class, () -> new ImageImport(to, said::add).take(made));
        assertEquals(Code.ARCHIVE_REFUSED, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().contains(because), failure.getMessage());
    }

    private static List<String> objects(Path data) throws Exception {
        try (Stream<Path> all = Files.list(data.resolve("archive/sha256"))) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
