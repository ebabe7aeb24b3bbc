package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import blackbox.schemas.sign.Ed25519Key;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Set;

/// A signing key in a file of mode 0600, with its verifier key beside it as `<name>.pub`.
public final class KeyFile {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private KeyFile() {}

    /// Reads `<folder>/<role>.key`, or makes it when it is not there. The key's name is `blackbox/<role>`.
    ///
    /// @throws RecorderException when the file cannot be read, holds no key, or others may read it
    public static Ed25519Key loadOrCreate(Path folder, String role) throws RecorderException {
        Path file = folder.resolve(role + ".key");
        try {
            createOnce(folder, role, file);
            if (!Files.getPosixFilePermissions(file).equals(OWNER_ONLY)) {
                throw new RecorderException(
                        RecorderException.Code.KEY,
                        "the key file " + file + " must be readable by its owner alone: chmod 600 it, and think about "
                                + "who may have read it");
            }
            return Ed25519Key.parse(Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw new RecorderException(
                    RecorderException.Code.KEY, "cannot use the key file " + file + ": " + e.getMessage(), e);
        }
    }

    private static void createOnce(Path folder, String role, Path file) throws IOException {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.createDirectories(folder);
        try (FileChannel lock =
                        FileChannel.open(folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = lock.lock()) {
            if (held.isValid() && !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                create(folder, role, file);
            }
        }
    }

    private static void create(Path folder, String role, Path file) throws IOException {
        Ed25519Key key = Ed25519Key.create("blackbox/" + role, new SecureRandom());
        writeAtomically(folder.resolve(role + ".pub"), key.verifier().encoded() + "\n", "rw-r--r--");
        writeAtomically(file, key.encoded() + "\n", "rw-------");
    }

    private static void writeAtomically(Path file, String text, String permissions) throws IOException {
        Path staged = Files.createTempFile(
                file.getParent(),
                "." + file.getFileName(),
                ".new",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (FileChannel out = FileChannel.open(staged, StandardOpenOption.WRITE)) {
            ByteBuffer octets = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (octets.hasRemaining()) {
                out.write(octets);
            }
            out.force(true);
        }
        Files.setPosixFilePermissions(staged, PosixFilePermissions.fromString(permissions));
        Files.move(staged, file, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel directory = FileChannel.open(file.toAbsolutePath().getParent())) {
            directory.force(true);
        }
    }
}
