package blackbox.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;

/// Folders whose entries survive a power cut. Safe to use from several threads and processes.
public final class Folders {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    private Folders() {}

    /// Makes the entries of `folder` durable: fsync(2) of a file does not cover its name.
    public static void sync(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /// Creates the folder, and missing ones above it, durably.
    public static void create(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = folder.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IOException(folder + " is not a folder");
        }
        create(parent);
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
            // Another process has just created it.
        }
        sync(parent);
    }

    /// Makes the folder, and those above it that are missing, durably; the folder itself is open to its owner only.
    ///
    /// @return false when it was there and others may look into it or write to it: nothing is changed then
    public static boolean createPrivate(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Path above = of(folder);
            create(above);
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            sync(above);
        }
        return OWNER_ONLY.containsAll(Files.getPosixFilePermissions(folder));
    }

    /// Opens the folder to its owner only.
    public static void close(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, OWNER_ONLY);
    }

    /// Whether nothing is in the folder.
    public static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    /// The folder that a file is in.
    ///
    /// @throws IOException when there is none, as for `/`
    static Path of(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IOException(file + " is not a file");
        }
        return folder;
    }
}
