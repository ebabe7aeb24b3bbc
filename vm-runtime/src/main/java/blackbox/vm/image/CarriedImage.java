package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What is needed here, besides the packages themselves, to rebuild an image of another data folder. An imported
/// one is stored at `archive/locks/image-NAME.json`.
///
/// @param format version of this form: 1
/// @param digest of the image as it was exported
/// @param guestFiles path → SHA-256, as in the image's record
/// @param tools versions of what wrote bytes of the image
public record CarriedImage(
        int format,
        String digest,
        ImageDefinition definition,
        ImageLock lock,
        Map<String, String> guestFiles,
        Map<String, String> tools) {
    private static final int FORMAT = 1;

    public CarriedImage {
        guestFiles = new TreeMap<>(guestFiles);
        tools = new TreeMap<>(tools);
        Hash.ofHex(digest);
        guestFiles.values().forEach(Hash::ofHex);
        if (format != FORMAT || !lock.isFor(definition)) {
            throw new IllegalArgumentException("carried image: unknown format, or a lock of another definition");
        }
    }

    /// What another data folder needs to know about `image`.
    public static CarriedImage of(GuestImage image) {
        var record = image.record();
        return new CarriedImage(
                FORMAT,
                image.digest().toString(),
                record.definition(),
                record.lock(),
                record.guestFiles(),
                record.tools());
    }

    /// The imported image of this name, or null.
    public static @Nullable CarriedImage find(Path data, String name) throws VmException {
        Path file = file(data, name);
        return Files.exists(file) ? Json.read(file, CarriedImage.class, Code.IMAGE_DEFINITION) : null;
    }

    /// Stores it in a data folder, replacing an older one of its name.
    public void keep(Path data) throws VmException {
        Path file = file(data, definition.name());
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            throw new VmException(Code.IO, file.getParent() + " could not be created", e);
        }
        Json.write(file, this);
    }

    private static Path file(Path data, String name) {
        return new DataFolder(data).locks().resolve("image-" + name + ".json");
    }

    /// Why a build with this lock is not the exported image: what was different there, in words for people.
    String differences(GuestImage.ImageRecord built) {
        var differing = new TreeMap<String, Boolean>();
        differing.put("the definition", !definition.equals(built.definition()));
        differing.put("Blackbox's own files in it", !sorted(guestFiles).equals(sorted(built.guestFiles())));
        differing.put("the tools " + tools + ", here " + built.tools(), !tools.equals(built.tools()));
        return String.join(
                "; ",
                differing.entrySet().stream()
                        .filter(Map.Entry::getValue)
                        .map(Map.Entry::getKey)
                        .toList());
    }

    private static SortedMap<String, String> sorted(Map<String, String> files) {
        return new TreeMap<>(files);
    }
}
