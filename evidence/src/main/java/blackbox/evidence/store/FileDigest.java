package blackbox.evidence.store;

import blackbox.evidence.storage.StoredFile;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;

/// The SHA-256 of a file, read a piece at a time.
public final class FileDigest {

    private static final int BUFFER_BYTES = 1 << 16;

    private FileDigest() {}

    /// Of an open file, which stays open.
    public static Hash sha256(StoredFile file) throws IOException {
        MessageDigest digest = Sha256.digest();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        for (long at = 0; at < file.size(); at += buffer.limit()) {
            buffer.clear().limit((int) Math.min(BUFFER_BYTES, file.size() - at));
            file.read(at, buffer);
            digest.update(buffer.flip());
        }
        return Hash.copyOf(digest.digest(), 0);
    }

    public static Hash sha256(Path file) throws IOException {
        MessageDigest digest = Sha256.digest();
        var buffer = new byte[BUFFER_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
            }
        }
        return Hash.copyOf(digest.digest(), 0);
    }
}
