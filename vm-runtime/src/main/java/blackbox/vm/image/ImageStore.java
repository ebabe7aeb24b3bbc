package blackbox.vm.image;

import blackbox.files.AtomicFiles;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.FileFingerprint;
import blackbox.vm.FolderLock;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage.ImageRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The images of a data folder, `images/NAME/`. An image is put there completely by a rename, or not at all.
public final class ImageStore {
    /// Behind the name of a file that is to take another's place.
    static final String NEXT = ".next";

    private final Path data;
    private final Path folder;
    private final PackageArchive archive;
    private final ReplacedImages replaced;

    /// The images below a data folder.
    public ImageStore(Path data) {
        this.data = data;
        this.folder = new DataFolder(data).images();
        this.archive = new PackageArchive(data);
        this.replaced = new ReplacedImages(new DataFolder(data).replacedImages());
    }

    /// All images, by name.
    public List<GuestImage> list() throws VmException {
        return in(folder);
    }

    /// The same, and after them those that were replaced by newer ones of their names, and those that came with
    /// imported runs: to execute such a run again, never to record.
    public List<GuestImage> listForReplay() throws VmException {
        var images = new ArrayList<>(list());
        images.addAll(replaced.list());
        images.addAll(in(new DataFolder(data).importedImages()));
        return images;
    }

    private static List<GuestImage> in(Path folder) throws VmException {
        var images = new ArrayList<GuestImage>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> all = Files.list(folder)) {
                for (Path each : all.sorted().toList()) {
                    if (Files.exists(each.resolve(GuestImage.RECORD))) {
                        images.add(read(each));
                    }
                }
            } catch (IOException e) {
                throw new VmException(Code.IO, folder + " could not be listed", e);
            }
        }
        return images;
    }

    /// The image of this name, if it is unchanged since it was built; its files are checked by size, time and
    /// inode, and by content where one of those has changed.
    ///
    /// @throws VmException `IMAGE_UNKNOWN`, `IMAGE_CORRUPT`
    public GuestImage find(String name) throws VmException {
        return find(name, _ -> {});
    }

    private GuestImage find(String name, Progress progress) throws VmException {
        GuestImage image = recorded(name);
        if (seemsUnchanged(image)) {
            return image;
        }
        try (var lock = FolderLock.take(folder, progress)) {
            return settled(name, lock);
        }
    }

    private static boolean seemsUnchanged(GuestImage image) {
        return GuestImage.FILES.stream().allMatch(file -> {
            FileFingerprint fingerprint = image.record().files().get(file);
            return fingerprint != null && fingerprint.seemsUnchanged(image.file(file));
        });
    }

    /// The image as the last process left it that gave it other guest files, with its files checked.
    private GuestImage settled(String name, FolderLock lock) throws VmException {
        Objects.requireNonNull(lock);
        settle(folder.resolve(name));
        GuestImage image = recorded(name);
        var fingerprints = new TreeMap<>(image.record().files());
        for (String file : GuestImage.FILES) {
            FileFingerprint fingerprint = fingerprints.get(file);
            if (fingerprint != null && fingerprint.seemsUnchanged(image.file(file))) {
                continue;
            }
            if (fingerprint == null || !fingerprint.holds(image.file(file))) {
                throw new VmException(
                        Code.IMAGE_CORRUPT,
                        image.file(file) + " is not the file that was built; run 'blackbox image build " + name + "'");
            }
            fingerprints.put(file, fingerprint.at(image.file(file))); // the folder was copied
        }
        return fingerprints.equals(image.record().files())
                ? image
                : write(image, fingerprints, image.record().guestFiles(), GuestImage.RECORD);
    }

    /// The image of this name, without checking its files.
    ///
    /// @throws VmException `IMAGE_UNKNOWN`
    public GuestImage recorded(String name) throws VmException {
        Path place = folder.resolve(name).normalize();
        if (!folder.equals(place.getParent()) || !Files.exists(place.resolve(GuestImage.RECORD))) {
            throw new VmException(
                    Code.IMAGE_UNKNOWN, "there is no image '" + name + "'; run 'blackbox image build " + name + "'");
        }
        return read(place);
    }

    /// The image of this name with these guest files, and what is derived from them: if it was built with
    /// others, its initrd is rebuilt, which gives the image another digest; the one before is kept for replays.
    ///
    /// @param progress is told if that has to wait for another process
    public GuestImage open(String name, GuestFiles files, Progress progress) throws VmException {
        GuestImage image = find(name, progress);
        if (files.areIn(image.record().guestFiles())) {
            return image;
        }
        try (var lock = FolderLock.take(folder, progress)) {
            GuestImage present = settled(name, lock);
            if (files.areIn(present.record().guestFiles())) {
                return present;
            }
            replaced.keep(present, progress);
            return withGuestFiles(present, files, lock);
        }
    }

    /// Moves a finished build, a folder beside the images, into place; the image before, if it is another one,
    /// is kept for replays. The caller holds the folder's lock.
    GuestImage adopt(Path built, String name, Progress progress) throws VmException {
        Path place = folder.resolve(name);
        try {
            if (Files.exists(place)) {
                keepIfOther(place, read(built), progress);
                // Into the build's own scratch folder, to be deleted with it.
                AtomicFiles.rename(place, built.resolveSibling("replaced"));
            }
            AtomicFiles.rename(built, place);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the image could not be put at " + place, e);
        }
        return read(place);
    }

    /// One without a record that can be read cannot be replayed any more.
    private void keepIfOther(Path place, GuestImage built, Progress progress) {
        GuestImage present;
        try {
            present = read(place);
        } catch (VmException e) {
            return;
        }
        if (!present.digest().equals(built.digest())) {
            replaced.keep(present, progress);
        }
    }

    /// Where builds may create folders that [#adopt] can rename.
    Path folder() {
        return folder;
    }

    PackageArchive archive() {
        return archive;
    }

    /// What was imported to build the image of this name from, or null.
    public @Nullable CarriedImage carried(String name) throws VmException {
        return CarriedImage.find(data, name);
    }

    /// Archives guest files and returns path → SHA-256.
    TreeMap<String, String> archived(GuestFiles files) throws VmException {
        var digests = new TreeMap<String, String>();
        for (var each : files.byPath().entrySet()) {
            digests.put(each.getKey(), archive.take(each.getValue()));
        }
        return digests;
    }

    /// Writes the initrd of a build from its base and the guest files.
    static FileFingerprint writeInitrd(Path folder, GuestFiles files) throws VmException {
        Path initrd = folder.resolve(GuestImage.INITRD);
        try {
            Files.copy(folder.resolve(GuestImage.INITRD_BASE), initrd);
            Files.write(initrd, files.archive(), StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new VmException(Code.IO, initrd + " could not be written", e);
        }
        return FileFingerprint.of(initrd);
    }

    /// Puts the next record in its place if the next initrd is in its own, and else deletes it: until then
    /// the image is the old one. The caller holds the folder's lock.
    private static void settle(Path place) throws VmException {
        Path next = place.resolve(GuestImage.RECORD + NEXT);
        try {
            if (Files.exists(next)) {
                ImageRecord record = Json.read(next, ImageRecord.class, Code.IMAGE_CORRUPT);
                FileFingerprint initrd = record.files().get(GuestImage.INITRD);
                if (initrd != null && initrd.holds(place.resolve(GuestImage.INITRD))) {
                    AtomicFiles.put(next, place.resolve(GuestImage.RECORD));
                } else {
                    AtomicFiles.delete(next);
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, next + " could not be put in its place", e);
        }
    }

    /// The image with other guest files, and what is derived from them.
    ///
    /// @param lock of the folder in which it is, held by the caller
    GuestImage withGuestFiles(GuestImage image, GuestFiles files, FolderLock lock) throws VmException {
        Objects.requireNonNull(lock);
        GuestFiles whole = files.whole(image);
        TreeMap<String, String> digests = archived(whole);
        var fingerprints = new TreeMap<>(image.record().files());
        Path initrd = image.file(GuestImage.INITRD);
        Path fresh = image.file(GuestImage.INITRD + NEXT);
        try {
            AtomicFiles.onDisk().replace(fresh, image.initrdWith(whole));
            fingerprints.put(GuestImage.INITRD, FileFingerprint.of(fresh));
            GuestImage next = write(image, fingerprints, digests, GuestImage.RECORD + NEXT);
            // In this order: a record whose initrd is not there yet is found and settled, the other way round not.
            AtomicFiles.put(fresh, initrd);
            AtomicFiles.put(image.file(GuestImage.RECORD + NEXT), image.file(GuestImage.RECORD));
            return next;
        } catch (IOException e) {
            throw new VmException(Code.IO, initrd + " could not be replaced", e);
        }
    }

    private static GuestImage write(
            GuestImage image,
            TreeMap<String, FileFingerprint> fingerprints,
            Map<String, String> guestFiles,
            String recordName)
            throws VmException {
        ImageRecord old = image.record();
        Hash digest = GuestImage.digest(fingerprints, old.definition().kernelArguments());
        var record = new ImageRecord(
                old.format(),
                digest.toString(),
                old.builtAt(),
                old.definition(),
                old.lock(),
                fingerprints,
                guestFiles,
                old.lockRenewed(),
                old.lockDifferences(),
                old.tools());
        Json.write(image.folder().resolve(recordName), record);
        return new GuestImage(image.name(), digest, image.folder(), record);
    }

    /// The image in a folder of whatever name, without checking its files.
    ///
    /// @throws VmException `IMAGE_CORRUPT` when its record cannot be read
    public static GuestImage read(Path place) throws VmException {
        ImageRecord record = Json.read(place.resolve(GuestImage.RECORD), ImageRecord.class, Code.IMAGE_CORRUPT);
        return new GuestImage(record.definition().name(), Hash.ofHex(record.digest()), place, record);
    }
}
