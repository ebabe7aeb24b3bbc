package blackbox.node.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How a file looks without being read: when it is changed, replaced or opened to others, it looks otherwise.
record FileStamp(Object key, Instant changed, long octets, Set<PosixFilePermission> permissions, String owner) {
    /// Of files that nobody else reads or writes.
    static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    FileStamp {
        permissions = Set.copyOf(permissions);
    }

    /// Of a file as it is now; null if there is none.
    static @Nullable FileStamp of(Path file) throws IOException {
        try {
            PosixFileAttributes found = Files.readAttributes(file, PosixFileAttributes.class);
            return new FileStamp(
                    Objects.requireNonNull(found.fileKey()),
                    found.lastModifiedTime().toInstant(),
                    found.size(),
                    found.permissions(),
                    found.owner().getName());
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// @throws IOException if others may read or write it
    static void requireOwnerOnly(Path file) throws IOException {
        if (!Files.getPosixFilePermissions(file).equals(OWNER_ONLY)) {
            throw new IOException(file + " must be readable and writable by its owner alone: run chmod 600 on it, and"
                    + " consider who may have read or changed it");
        }
    }
}
