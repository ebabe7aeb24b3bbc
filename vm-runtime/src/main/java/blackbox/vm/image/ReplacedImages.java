package blackbox.vm.image;

import blackbox.files.AtomicFiles;
import blackbox.files.Folders;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
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
import java.util.stream.Stream;

/// The images that newer ones of their names have replaced, each in a folder named by its digest: to execute
/// runs again that were started from them, never to record. Their files are hard links, so that an image of
/// which only our own files are new costs no more than these. The caller holds the lock of the images.
final class ReplacedImages {
    /// As many as there are snapshots, without which a live run cannot be executed again, either.
    static final int KEPT = 6;

    private static final String PART = ".part";

    private final Path folder;

    ReplacedImages(Path folder) {
        this.folder = folder;
    }

    /// Keeps an image that is about to be replaced, and as many of those before it as there is room for.
    void keep(GuestImage image) throws VmException {
        Path place = folder.resolve(image.digest().toString());
        try {
            if (!Files.exists(place.resolve(GuestImage.RECORD))) {
                Folders.createPrivate(folder);
                Path part = folder.resolve(image.digest() + PART);
                ScratchFolder.delete(part);
                Files.createDirectory(part);
                for (Path file : files(image.folder())) {
                    Files.createLink(part.resolve(file.getFileName()), file);
                }
                AtomicFiles.rename(part, place);
            }
            Files.setLastModifiedTime(place, FileTime.from(Instant.now()));
            prune();
        } catch (IOException e) {
            throw new VmException(Code.IO, "the image '" + image.name() + "' could not be kept at " + place, e);
        }
    }

    private static List<Path> files(Path image) throws IOException {
        try (Stream<Path> all = Files.list(image)) {
            return all.filter(each -> Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS))
                    .filter(each -> !each.toString().endsWith(ImageStore.NEXT))
                    .toList();
        }
    }

    private void prune() throws IOException, VmException {
        var since = new HashMap<Path, FileTime>();
        try (Stream<Path> listed = Files.list(folder)) {
            for (Path each : listed.toList()) {
                since.put(each, Files.getLastModifiedTime(each));
            }
        }
        List<Path> newest = since.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .map(Map.Entry::getKey)
                .toList();
        for (Path old : newest.stream().skip(KEPT).toList()) {
            ScratchFolder.delete(old);
        }
    }
}
