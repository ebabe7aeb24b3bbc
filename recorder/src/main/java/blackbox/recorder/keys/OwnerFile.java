package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// Files that only their owner reads: written with mode 0600 from the first octet, synced, and moved into
/// place whole.
final class OwnerFile {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private OwnerFile() {}

    static boolean exists(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }

    /// @throws RecorderException when others may read it
    static String read(Path file) throws IOException, RecorderException {
        if (!Files.getPosixFilePermissions(file).equals(OWNER_ONLY)) {
            throw new RecorderException(
                    RecorderException.Code.KEY,
                    "the key file " + file + " must be readable by its owner alone: chmod 600 it, and think about "
                            + "who may have read it");
        }
        return Files.readString(file);
    }

    /// Writes a file that its owner alone may read.
    static void write(Path file, String text) throws IOException {
        writeAtomically(file, text.getBytes(StandardCharsets.UTF_8), "rw-------");
    }

    /// Writes a file that its owner alone may read.
    static void write(Path file, byte[] octets) throws IOException {
        writeAtomically(file, octets, "rw-------");
    }

    /// Writes a file that everyone may read.
    static void writePublic(Path file, String text) throws IOException {
        writeAtomically(file, text.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
    }

    private static void writeAtomically(Path file, byte[] octets, String permissions) throws IOException {
        Path staged = Files.createTempFile(
                file.getParent(),
                "." + file.getFileName(),
                ".new",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (FileChannel out = FileChannel.open(staged, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
        Files.setPosixFilePermissions(staged, PosixFilePermissions.fromString(permissions));
        move(staged, file);
    }

    /// Replaces `target` by `file`, durably.
    static void move(Path file, Path target) throws IOException {
        Files.move(file, target, StandardCopyOption.ATOMIC_MOVE);
        syncFolder(target);
    }

    /// Deletes it where it is there, durably.
    static void delete(Path file) throws IOException {
        if (Files.deleteIfExists(file)) {
            syncFolder(file);
        }
    }

    private static void syncFolder(Path file) throws IOException {
        try (FileChannel directory = FileChannel.open(file.toAbsolutePath().getParent())) {
            directory.force(true);
        }
    }
}
