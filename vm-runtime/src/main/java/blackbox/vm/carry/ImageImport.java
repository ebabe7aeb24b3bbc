package blackbox.vm.carry;

import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.Sha256;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FolderLock;
import blackbox.vm.Json;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.carry.ArchiveForm.Label;
import blackbox.vm.carry.ArchiveManifest.ArchivedObject;
import blackbox.vm.image.ImageAdditions;
import blackbox.vm.image.ImageAdditions.AddedPackage;
import blackbox.vm.image.PackageArchive;
import blackbox.vm.qemu.CarriedQemu;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Imports an image archive into a data folder. All of it is first read into a separate folder and checked;
/// if any octet is wrong, the data folder stays as it was.
public final class ImageImport {
    private static final String SCRATCH = ".import-";
    private static final int CHUNK_BYTES = 1 << 16;
    private static final int SAID_EVERY = 50;

    private final Path data;
    private final PackageArchive archive;
    private final Progress progress;

    /// Imports into this data folder.
    public ImageImport(Path data, Progress progress) {
        this.data = data;
        this.archive = new PackageArchive(data);
        this.progress = progress;
    }

    /// What was imported.
    ///
    /// @param digest of the manifest, as the export reported it
    /// @param fresh how many of the objects were not here before
    public record Taken(Hash digest, ArchiveManifest manifest, int fresh) {}

    /// Checks `file` and imports what it holds. From then on, builds here use the locks in it.
    ///
    /// @throws VmException `ARCHIVE_REFUSED` when it is not an image archive of a known version;
    ///     `ARCHIVE_ALTERED` when it is one but was truncated or changed; `DISK_FULL`, `IO`
    public Taken take(Path file) throws VmException {
        if (Files.isDirectory(file) || !Files.isReadable(file)) {
            throw new VmException(Code.ARCHIVE_REFUSED, file + " could not be read; check that the file exists");
        }
        Path folder = new DataFolder(data).archive();
        try (var lock = FolderLock.take(folder, progress)) {
            ScratchFolder.clear(folder, SCRATCH);
            try (var scratch = ScratchFolder.in(folder, SCRATCH);
                    var in = new BufferedInputStream(Files.newInputStream(file), CHUNK_BYTES)) {
                return take(new Reading(in, file), scratch.path());
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be imported into " + folder, e);
        }
    }

    private Taken take(Reading reading, Path scratch) throws IOException, VmException {
        Label label = reading.label();
        ArchiveManifest manifest = reading.manifest(label);
        checkRoom(manifest, scratch);
        progress.say("checking " + manifest.objects().size() + " objects, " + (manifest.bytes() >> 20) + " MiB");
        int done = 0;
        for (ArchivedObject each : manifest.objects()) {
            reading.object(each, manifest, archive.holds(each.sha256()) ? null : scratch.resolve(each.sha256()));
            if (++done % SAID_EVERY == 0) {
                progress.say("checked " + done + " of " + manifest.objects().size());
            }
        }
        reading.end();
        int fresh = 0;
        for (ArchivedObject each : manifest.objects()) {
            Path checked = scratch.resolve(each.sha256());
            if (Files.exists(checked)) {
                archive.take(checked);
                fresh++;
            }
        }
        index(manifest.image().definition().additions());
        manifest.image().keep(data);
        CarriedQemu.keep(data, manifest.qemu());
        return new Taken(label.manifest(), manifest, fresh);
    }

    /// A definition's file with the same npm packages can be built here then, too.
    private void index(@Nullable ImageAdditions additions) throws VmException {
        for (AddedPackage each : additions == null ? List.<AddedPackage>of() : additions.npm()) {
            if (each.npm().isIn(archive.path(each.object().sha256()))) {
                archive.index(each.npm().sha512(), each.object().sha256());
            }
        }
    }

    private void checkRoom(ArchiveManifest manifest, Path scratch) throws IOException, VmException {
        long needed = manifest.objects().stream()
                .filter(each -> !archive.has(each.sha256()))
                .mapToLong(ArchivedObject::bytes)
                .sum();
        if (Files.getFileStore(scratch).getUsableSpace() < needed) {
            throw new VmException(
                    Code.DISK_FULL, "the packages need " + (needed >> 20) + " MiB at " + data + "; make room there");
        }
    }

    /// The archive, read once from beginning to end.
    private record Reading(InputStream in, Path file) {
        /// The first entry.
        Label label() throws IOException, VmException {
            int length = Label.length(ArchiveForm.VERSION);
            byte[] first = in.readNBytes(ArchiveForm.BLOCK);
            byte[] name = ArchiveForm.FIRST.getBytes(StandardCharsets.US_ASCII);
            if (first.length < name.length || !Arrays.equals(first, 0, name.length, name, 0, name.length)) {
                throw new VmException(
                        Code.ARCHIVE_REFUSED,
                        file + " is not an image archive; 'blackbox image export NAME FILE' writes one");
            }
            byte[] text = in.readNBytes(length);
            Label label = Label.of(text);
            if (label != null && label.version() != ArchiveForm.VERSION) {
                throw new VmException(
                        Code.ARCHIVE_REFUSED,
                        file + " is an image archive of version " + label.version() + "; this Blackbox reads version "
                                + ArchiveForm.VERSION);
            }
            if (label == null
                    || label.bytes() > ArchiveForm.MANIFEST_BYTES_MAX
                    || !Arrays.equals(first, ArchiveForm.header(ArchiveForm.FIRST, length))) {
                throw altered("its label is incomplete");
            }
            expect(new byte[ArchiveForm.padding(length)], "its label is incomplete");
            return label;
        }

        ArchiveManifest manifest(Label label) throws IOException, VmException {
            expect(ArchiveForm.header(ArchiveForm.MANIFEST, label.bytes()), "its manifest is incomplete");
            byte[] text = in.readNBytes(label.bytes());
            if (!Hash.sha256(text).equals(label.manifest())) {
                throw altered("its manifest does not have the SHA-256 in its label");
            }
            expect(new byte[ArchiveForm.padding(text.length)], "its manifest is incomplete");
            try {
                return Json.parse(new String(text, StandardCharsets.UTF_8), ArchiveManifest.class);
            } catch (JsonProcessingException e) {
                throw new VmException(Code.ARCHIVE_REFUSED, file + " has an invalid manifest: " + cause(e), e);
            }
        }

        /// Reads an object, and writes it to `target` unless that is null.
        void object(ArchivedObject object, ArchiveManifest manifest, @Nullable Path target)
                throws IOException, VmException {
            String what = manifest.describe(object.sha256());
            expect(ArchiveForm.header(ArchiveForm.name(object.sha256()), object.bytes()), what + " is incomplete");
            var digest = Sha256.digest();
            try (OutputStream out = target == null ? OutputStream.nullOutputStream() : Files.newOutputStream(target)) {
                var chunk = new byte[CHUNK_BYTES];
                for (long left = object.bytes(); left > 0; ) {
                    int n = in.read(chunk, 0, (int) Math.min(left, chunk.length));
                    if (n < 0) {
                        throw altered("it ends within " + what);
                    }
                    digest.update(chunk, 0, n);
                    out.write(chunk, 0, n);
                    left -= n;
                }
            }
            if (!Hash.copyOf(digest.digest(), 0).toString().equals(object.sha256())) {
                throw altered(what + " does not have the SHA-256 in the manifest");
            }
            expect(new byte[ArchiveForm.padding(object.bytes())], what + " is incomplete");
        }

        void end() throws IOException, VmException {
            expect(new byte[ArchiveForm.END_BYTES], "its end is missing");
            if (in.read() >= 0) {
                throw altered("there is data after its end");
            }
        }

        private void expect(byte[] wanted, String otherwise) throws IOException, VmException {
            if (!Arrays.equals(in.readNBytes(wanted.length), wanted)) {
                throw altered(otherwise);
            }
        }

        private VmException altered(String how) {
            return new VmException(
                    Code.ARCHIVE_ALTERED,
                    file + " is truncated or altered: " + how + "; nothing was imported, so transfer the file again");
        }

        private static String cause(JsonProcessingException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return cause instanceof JsonProcessingException json ? json.getOriginalMessage() : "" + cause.getMessage();
        }
    }
}
