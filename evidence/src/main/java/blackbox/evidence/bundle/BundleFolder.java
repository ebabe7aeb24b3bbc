package blackbox.evidence.bundle;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The files of a bundle that is unpacked in a folder.
final class BundleFolder {

    private BundleFolder() {}

    /// The files below `folder` by their names in the bundle.
    ///
    /// @throws MalformedBundleException if something is not a regular file with a proper name, such as a link
    static SortedMap<String, Path> files(Path folder) throws IOException, MalformedBundleException {
        var files = new TreeMap<String, Path>();
        try (Stream<Path> entries = Files.walk(folder)) {
            for (Path entry : (Iterable<Path>) entries::iterator) {
                if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
                    continue;
                }
                String name = folder.relativize(entry).toString().replace('\\', '/');
                if (!Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS) || !BundleLayout.isName(name)) {
                    throw new MalformedBundleException("something in it is not a regular file, or has an invalid name");
                }
                files.put(name, entry);
                if (files.size() > BundleLayout.FILES_MAX) {
                    throw new MalformedBundleException("it has more than " + BundleLayout.FILES_MAX + " files");
                }
            }
        } catch (UncheckedIOException e) {
            throw new IOException("cannot list " + folder, e);
        }
        return files;
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> entries = Files.walk(folder)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(entry);
            }
        }
    }
}
