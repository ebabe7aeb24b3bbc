package blackbox.vm.image;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.schemas.Progress;
import blackbox.vm.FileFingerprint;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The images that newer ones of their names have replaced, each in a folder named by its digest: to execute
/// runs again that were started from them, never to record. Their files are hard links, so that an image of
/// which only our own files are new costs no more than these.
///
/// What a killed process left behind has another name, or lacks files, and is no image.
final class ReplacedImages {
    /// As many as there are snapshots, without which a live run cannot be executed again, either.
    static final int KEPT = 6;

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");
    private static final String PART = ".part";
    private static final String GONE = ".gone";

    private final Path folder;

    ReplacedImages(Path folder) {
        this.folder = folder;
    }

    /// Those that are whole. Others that are there are not looked at, and hinder nobody.
    List<GuestImage> list() {
        return named().stream().flatMap(each -> whole(each).stream()).toList();
    }

    /// The image there; none if that is not one, or not any more.
    private static Optional<GuestImage> whole(Path place) {
        try {
            return Optional.of(ImageStore.read(place)).filter(ReplacedImages::isWhole);
        } catch (VmException e) {
            return Optional.empty();
        }
    }

    private List<Path> named() {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(ReplacedImages::isDigest).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static boolean isDigest(Path path) {
        return DIGEST.matcher(path.getFileName().toString()).matches();
    }

    private static boolean isWhole(GuestImage image) {
        return GuestImage.FILES.stream().allMatch(file -> {
            FileFingerprint fingerprint = image.record().files().get(file);
            try {
                return fingerprint != null && Files.size(image.file(file)) == fingerprint.bytes();
            } catch (IOException e) {
                return false;
            }
        });
    }

    /// Keeps an image that is about to be replaced, and as many of those before it as there is room for. Where it
    /// cannot be kept, that is said, and nothing else comes of it. The caller holds the lock of the images.
    void keep(GuestImage image, Progress progress) {
        Path place = folder.resolve(image.digest().toString());
        try {
            if (whole(place).isEmpty()) {
                Folders.createPrivate(folder);
                delete(place);
                Path part = folder.resolve(image.digest() + PART);
                ScratchFolder.delete(part);
                Files.createDirectory(part);
                link(image, part);
                AtomicFiles.put(part, place);
            }
            Files.setLastModifiedTime(place, FileTime.from(Instant.now()));
            prune(place);
        } catch (IOException | VmException | UnsupportedOperationException e) {
            progress.say("the image '" + image.name() + "' as it was is not kept, and runs recorded with it cannot be"
                    + " replayed here: " + e.getMessage());
        }
    }

    private static void link(GuestImage image, Path part) throws IOException {
        Path record = image.file(GuestImage.RECORD);
        try (Stream<Path> all = Files.list(image.folder())) {
            for (Path file : all.filter(each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))
                    .filter(each -> !each.toString().endsWith(ImageStore.NEXT) && !each.equals(record))
                    .toList()) {
                Files.createLink(part.resolve(file.getFileName()), file);
            }
        }
        Files.createLink(part.resolve(GuestImage.RECORD), record);
    }

    /// It has another name before anything of it is missing.
    private void delete(Path place) throws IOException, VmException {
        if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            Path gone = folder.resolve(place.getFileName() + GONE);
            ScratchFolder.delete(gone);
            AtomicFiles.rename(place, gone);
            ScratchFolder.delete(gone);
        }
    }

    private void prune(Path newest) throws IOException, VmException {
        var since = new HashMap<Path, FileTime>();
        List<Path> all;
        try (Stream<Path> listed = Files.list(folder)) {
            all = listed.filter(each -> !each.equals(newest)).toList();
        }
        for (Path each : all) {
            if (isDigest(each)) {
                since.put(each, Files.getLastModifiedTime(each));
            } else {
                ScratchFolder.delete(each);
            }
        }
        List<Path> older = since.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .map(Map.Entry::getKey)
                .skip(KEPT - 1)
                .toList();
        for (Path old : older) {
            delete(old);
        }
    }
}
