package blackbox.files;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Reads files whole that nobody vouches for, up to a length that the caller knows they never exceed.
public final class BoundedFiles {

    private BoundedFiles() {}

    /// A stored file's octets. A longer one is refused before it is read, and so is what has no length: a pipe, a
    /// device, a folder.
    ///
    /// @throws java.nio.file.NoSuchFileException when there is none
    /// @throws RefusedFileException when it is no regular file, or longer than `octetsMax`
    /// @throws IOException when it cannot be read
    public static byte[] read(Path file, int octetsMax) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            throw new RefusedFileException(file + " is not a regular file");
        }
        if (attributes.size() > octetsMax) {
            throw tooLong(file, octetsMax);
        }
        return readGiven(file, octetsMax);
    }

    /// The octets of a file that a user has named, which may be a pipe.
    ///
    /// @throws RefusedFileException when it is longer than `octetsMax`, after that many were read
    /// @throws IOException when it cannot be read
    public static byte[] readGiven(Path file, int octetsMax) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(octetsMax);
            if (octets.length == octetsMax && in.read() >= 0) {
                throw tooLong(file, octetsMax);
            }
            return octets;
        }
    }

    private static RefusedFileException tooLong(Path file, int octetsMax) {
        return new RefusedFileException(file + " is longer than the " + octetsMax + " octets that are read");
    }
}
