package blackbox.vm.image;

import blackbox.schemas.Hash;
import blackbox.vm.FileFingerprint;
import blackbox.vm.Json;
import blackbox.vm.image.GuestImage.ImageRecord;
import blackbox.vm.image.ImageLock.LockedPackage;
import blackbox.vm.image.ImageLock.PackageUse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// An image in a data folder whose files hold their own names: for what does not start it.
public final class FakeImage {

    public static final String NAME = "default";
    private static final String HASH = Hash.sha256(new byte[0]).toString();

    private FakeImage() {}

    public static GuestImage in(Path data) throws Exception {
        Path folder = Files.createDirectories(data.resolve("images").resolve(NAME));
        var files = new HashMap<String, FileFingerprint>();
        for (String name : List.of(GuestImage.KERNEL, GuestImage.INITRD, GuestImage.ROOT, GuestImage.INITRD_BASE)) {
            files.put(name, FileFingerprint.of(Files.writeString(folder.resolve(name), name)));
        }
        var lock = new ImageLock(1, HASH, 1, List.of(new LockedPackage("p", "1", "amd64", HASH, 1, PackageUse.ROOT)));
        var record = new ImageRecord(
                1,
                HASH,
                "2026-01-01T00:00:00Z",
                ImageDefinition.named(NAME),
                lock,
                files,
                Map.of(),
                false,
                List.of(),
                Map.of());
        Json.write(folder.resolve(GuestImage.RECORD), record);
        return new GuestImage(NAME, Hash.ofHex(HASH), folder, record);
    }
}
