package blackbox.vm;

import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;

/// The state of a file when it was hashed: its digest and its metadata, so that a change can be noticed
/// without reading the file again. The cheap check finds accidents; only [#holds] finds an adversary who
/// resets times.
///
/// @param sha256 of the whole file
/// @param bytes its length
/// @param modifiedNanos its modification time, nanoseconds since 1970
/// @param inode its inode number
public record FileFingerprint(String sha256, long bytes, long modifiedNanos, long inode) {
    private static final int CHUNK_BYTES = 1 << 20;

    public FileFingerprint {
        Hash.ofHex(sha256);
    }

    /// Hashes `file`.
    public static FileFingerprint of(Path file) throws VmException {
        try {
            return new FileFingerprint(hash(file).toString(), Files.size(file), modified(file), inode(file));
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + file, e);
        }
    }

    /// A fingerprint of `file` whose digest is another than that of the whole content.
    public static FileFingerprint of(Path file, Hash digest) throws VmException {
        return new FileFingerprint(digest.toString(), 0, 0, 0).at(file);
    }

    /// Whether the metadata of `file` is still the same. Reads no content.
    public boolean seemsUnchanged(Path file) {
        try {
            return Files.size(file) == bytes && modified(file) == modifiedNanos && inode(file) == inode;
        } catch (IOException e) {
            return false;
        }
    }

    /// Whether the content of `file` still has this digest.
    public boolean holds(Path file) throws VmException {
        try {
            return Files.exists(file) && hash(file).toString().equals(sha256);
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + file, e);
        }
    }

    /// The SHA-256 of a file's content.
    public static Hash hash(Path file) throws IOException {
        var digest = Sha256.digest();
        var buffer = ByteBuffer.allocateDirect(CHUNK_BYTES);
        try (var channel = FileChannel.open(file)) {
            while (channel.read(buffer) >= 0) {
                digest.update(buffer.flip());
                buffer.clear();
            }
        }
        return Hash.copyOf(digest.digest(), 0);
    }

    /// This fingerprint for a file with the same content that was copied or touched: same digest, fresh metadata.
    public FileFingerprint at(Path file) throws VmException {
        try {
            return new FileFingerprint(sha256, Files.size(file), modified(file), inode(file));
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be accessed", e);
        }
    }

    private static long modified(Path file) throws IOException {
        return ((FileTime) Files.getAttribute(file, "lastModifiedTime")).to(TimeUnit.NANOSECONDS);
    }

    private static long inode(Path file) throws IOException {
        return ((Number) Files.getAttribute(file, "unix:ino")).longValue();
    }
}
