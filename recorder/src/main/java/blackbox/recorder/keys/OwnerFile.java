package blackbox.recorder.keys;

import blackbox.files.AtomicFiles;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// Files that only their owner can read: written with mode 0600 from the first octet, synced, and moved into
/// place whole.
final class OwnerFile {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> EVERYONE = PosixFilePermissions.fromString("rw-r--r--");

    private OwnerFile() {}

    static boolean exists(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }

    /// A file's text, which stays in memory: for keys that no recording reads.
    ///
    /// @throws RecorderException when it is readable by others
    static String read(Path file) throws IOException, RecorderException {
        require(file);
        return Files.readString(file);
    }

    /// A file's octets, which the caller clears.
    ///
    /// @throws RecorderException when it is readable by others
    static byte[] readSecret(Path file) throws IOException, RecorderException {
        require(file);
        return SecretFile.octets(file);
    }

    private static void require(Path file) throws IOException, RecorderException {
        if (!Files.getPosixFilePermissions(file).equals(OWNER_ONLY)) {
            throw new RecorderException(
                    RecorderException.Code.KEY,
                    "the key file " + file + " must be readable by its owner alone: run chmod 600 on it, and consider "
                            + "who may have read it");
        }
    }

    /// Writes a file that its owner alone may read.
    static void write(Path file, String text) throws IOException {
        write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    /// Writes a file that its owner alone may read.
    static void write(Path file, byte[] octets) throws IOException {
        AtomicFiles.onDisk().replace(file, octets, OWNER_ONLY);
    }

    /// Writes a file that everyone may read.
    static void writePublic(Path file, String text) throws IOException {
        AtomicFiles.onDisk().replace(file, text.getBytes(StandardCharsets.UTF_8), EVERYONE);
    }
}
