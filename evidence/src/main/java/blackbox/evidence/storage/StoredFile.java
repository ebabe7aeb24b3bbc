package blackbox.evidence.storage;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// An open file of a [FileStore]. Owned by one thread.
public interface StoredFile extends AutoCloseable {

    long size();

    /// Reads as many octets from `position` on as `target` has room for.
    ///
    /// @throws EOFException when the file has fewer
    void read(long position, ByteBuffer target) throws IOException;

    /// The whole file, or null if it is longer than `bytesMax`.
    default byte @Nullable [] octets(int bytesMax) throws IOException {
        if (size() > bytesMax) {
            return null;
        }
        ByteBuffer octets = ByteBuffer.allocate((int) size());
        read(0, octets);
        return octets.array();
    }

    @Override
    void close() throws IOException;
}
