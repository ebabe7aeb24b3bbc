package blackbox.vm.carry;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.Sha256;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.carry.ArchiveForm.Label;
import blackbox.vm.carry.ArchiveManifest.ArchivedObject;
import blackbox.vm.image.CarriedImage;
import blackbox.vm.image.ImageStore;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.qemu.CarriedQemu;
import blackbox.vm.qemu.QemuBuilds;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Writes an image archive: what a data folder without a mirror needs to build an image and QEMU.
public final class ImageExport {
    private static final int CHUNK_BYTES = 1 << 16;

    private final Path data;
    private final PackageArchive archive;
    private final Progress progress;

    /// Exports from this data folder.
    public ImageExport(Path data, Progress progress) {
        this.data = data;
        this.archive = new PackageArchive(data);
        this.progress = progress;
    }

    /// What to do if the file exists.
    public enum Existing {
        /// Fail.
        REFUSE,
        /// Replace it.
        REPLACE
    }

    /// The description of an archive, without its objects.
    ///
    /// @param digest of the manifest, which names every octet of the archive
    public record Written(Hash digest, ArchiveManifest manifest) {}

    /// Writes the archive of the image `name` and of every QEMU that is unpacked here. `file` is written
    /// completely or not at all.
    ///
    /// @throws VmException `IMAGE_UNKNOWN`, `IMAGE_CORRUPT` when the archive here lacks an object or one has
    ///     changed, `IMAGE_DEFINITION` when `file` already exists
    public Written write(String name, Path file, Existing existing) throws VmException {
        if (existing == Existing.REFUSE && Files.exists(file)) {
            throw new VmException(
                    Code.IMAGE_DEFINITION, file + " already exists; name another file, or replace it with --force");
        }
        ArchiveManifest manifest = manifest(name);
        byte[] text = (Json.tree(manifest) + "\n").getBytes(StandardCharsets.UTF_8);
        Hash digest = Hash.sha256(text);
        progress.say("writing " + manifest.objects().size() + " objects, " + (manifest.bytes() >> 20) + " MiB");
        Path fresh = fresh(file);
        try {
            try (var out = new BufferedOutputStream(Files.newOutputStream(fresh), CHUNK_BYTES)) {
                byte[] label = new Label(ArchiveForm.VERSION, digest, text.length).octets();
                entry(out, ArchiveForm.FIRST, label);
                entry(out, ArchiveForm.MANIFEST, text);
                for (ArchivedObject each : manifest.objects()) {
                    object(out, each, manifest);
                }
                out.write(new byte[ArchiveForm.END_BYTES]);
            }
            AtomicFiles.rename(fresh, file);
            return new Written(digest, manifest);
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be written", e);
        } finally {
            discard(fresh);
        }
    }

    /// A unique name beside `file`.
    private static Path fresh(Path file) throws VmException {
        try {
            return Files.createTempFile(file.toAbsolutePath().getParent(), "." + file.getFileName(), ".partial");
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be written", e);
        }
    }

    private ArchiveManifest manifest(String name) throws VmException {
        CarriedImage image = CarriedImage.of(new ImageStore(data).recorded(name));
        List<CarriedQemu> qemu = new QemuBuilds(data, progress)
                .list().stream().map(CarriedQemu::of).toList();
        if (qemu.isEmpty()) {
            progress.say("no QEMU is unpacked here, so the file contains none; `blackbox doctor --fix` fetches one");
        }
        var objects = new ArrayList<ArchivedObject>();
        for (var each : ArchiveManifest.needed(image, qemu).entrySet()) {
            objects.add(archived(each.getKey(), each.getValue(), name));
        }
        return new ArchiveManifest(ArchiveManifest.FORMAT, image, qemu, objects);
    }

    private ArchivedObject archived(String sha256, @Nullable Long bytes, String image) throws VmException {
        try {
            long found = Files.size(archive.path(sha256));
            if (bytes == null || bytes == found) {
                return new ArchivedObject(sha256, found);
            }
        } catch (NoSuchFileException e) {
            throw new VmException(
                    Code.IMAGE_CORRUPT,
                    "the archive lacks " + sha256 + ", which the image '" + image
                            + "' or a QEMU here was made of; 'blackbox image build " + image
                            + "' and 'blackbox doctor --fix' fetch it again",
                    e);
        } catch (IOException e) {
            throw new VmException(Code.IO, archive.path(sha256) + " could not be accessed", e);
        }
        throw changed(sha256, "");
    }

    private static VmException changed(String sha256, String what) {
        return new VmException(
                Code.IMAGE_CORRUPT,
                "the archived object " + sha256 + what + " has changed; delete it and build again to fetch it again");
    }

    private void object(OutputStream out, ArchivedObject object, ArchiveManifest manifest)
            throws IOException, VmException {
        out.write(ArchiveForm.header(ArchiveForm.name(object.sha256()), object.bytes()));
        var digest = Sha256.digest();
        var chunk = new byte[CHUNK_BYTES];
        try (InputStream in = Files.newInputStream(archive.path(object.sha256()))) {
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                digest.update(chunk, 0, n);
                out.write(chunk, 0, n);
            }
        }
        if (!Hash.copyOf(digest.digest(), 0).toString().equals(object.sha256())) {
            throw changed(object.sha256(), ", " + manifest.describe(object.sha256()) + ",");
        }
        out.write(new byte[ArchiveForm.padding(object.bytes())]);
    }

    private static void entry(OutputStream out, String name, byte[] octets) throws IOException {
        out.write(ArchiveForm.header(name, octets.length));
        out.write(octets);
        out.write(new byte[ArchiveForm.padding(octets.length)]);
    }

    private static void discard(Path fresh) throws VmException {
        try {
            Files.deleteIfExists(fresh);
        } catch (IOException e) {
            throw new VmException(Code.IO, fresh + " could not be deleted", e);
        }
    }
}
