package blackbox.vm.carry;

import blackbox.schemas.Hash;
import blackbox.vm.apt.DebFile;
import blackbox.vm.image.CarriedImage;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.qemu.CarriedQemu;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What an image archive holds.
///
/// @param format version of this form: 1
/// @param image whose packages and guest files are in it
/// @param qemu the unpacked builds whose packages are in it, the newest first
/// @param objects everything that follows the manifest, in this order: by digest, each once
public record ArchiveManifest(int format, CarriedImage image, List<CarriedQemu> qemu, List<ArchivedObject> objects) {
    static final int FORMAT = 1;
    private static final int OBJECTS_MAX = 20_000;
    private static final int QEMU_MAX = 100;
    private static final long OBJECT_BYTES_MAX = 4L << 30;
    private static final long BYTES_MAX = 64L << 30;

    public ArchiveManifest {
        qemu = List.copyOf(qemu);
        objects = List.copyOf(objects);
        require(format == FORMAT, "format " + format + " is not known, only " + FORMAT);
        require(objects.size() <= OBJECTS_MAX && qemu.size() <= QEMU_MAX, "too many objects");
        require(bytes(objects) <= BYTES_MAX, "more than " + BYTES_MAX + " bytes");
        var listed = new TreeMap<String, ArchivedObject>();
        objects.forEach(each -> listed.put(each.sha256(), each));
        require(List.copyOf(listed.values()).equals(objects), "objects are not sorted, or one is listed twice");
        Map<String, @Nullable Long> needed = needed(image, qemu);
        require(listed.keySet().equals(needed.keySet()), "its objects are not the ones that its locks name");
        for (var each : needed.entrySet()) {
            Long bytes = each.getValue();
            ArchivedObject object = listed.get(each.getKey());
            require(
                    bytes == null || object != null && object.bytes() == bytes,
                    "the length of an object differs from its lock");
        }
    }

    /// One object.
    ///
    /// @param sha256 of its octets, and its name
    /// @param bytes their number
    public record ArchivedObject(String sha256, long bytes) {
        public ArchivedObject {
            Hash.ofHex(sha256);
            require(bytes >= 0 && bytes <= OBJECT_BYTES_MAX, "an object of " + bytes + " bytes");
        }
    }

    /// The version of each QEMU whose packages are in the archive, by its digest; the newest first.
    public SequencedMap<String, String> qemuVersions() {
        var versions = new LinkedHashMap<String, String>();
        qemu.forEach(each -> versions.put(each.digest(), each.version()));
        return versions;
    }

    /// The total length of all objects.
    public long bytes() {
        return bytes(objects);
    }

    /// The digests that the image and the QEMU builds need, each with its length if the locks give one.
    static Map<String, @Nullable Long> needed(CarriedImage image, List<CarriedQemu> qemu) {
        var needed = new TreeMap<String, @Nullable Long>();
        image.guestFiles().values().forEach(each -> needed.put(each, null));
        Stream.concat(image.lock().files().stream(), qemu.stream().flatMap(each -> each.packages().stream()))
                .forEach((DebFile each) -> needed.put(each.sha256(), each.bytes()));
        ImageAdditions additions = image.definition().additions();
        if (additions != null) {
            needed.putAll(additions.objects());
        }
        return needed;
    }

    /// What this object is, in words for people.
    String describe(String sha256) {
        return Stream.concat(image.lock().files().stream(), qemu.stream().flatMap(each -> each.packages().stream()))
                .filter(each -> each.sha256().equals(sha256))
                .map(each -> "the package " + each.identity())
                .findFirst()
                .orElseGet(() -> describeAdded(sha256));
    }

    private String describeAdded(String sha256) {
        ImageAdditions additions = image.definition().additions();
        String what = additions == null ? null : additions.describe(sha256);
        return what == null ? "one of the guest's own files" : what;
    }

    private static long bytes(List<ArchivedObject> objects) {
        return objects.stream().mapToLong(ArchivedObject::bytes).sum();
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException("image archive: " + otherwise);
        }
    }
}
