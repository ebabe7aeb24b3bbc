package blackbox.replay.fs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// An image's octets, little-endian; nothing outside of it is ever read.
final class ImageFile implements AutoCloseable {
    private final FileChannel file;
    private final long length;

    ImageFile(Path path) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.READ);
        this.length = file.size();
    }

    long length() {
        return length;
    }

    ByteBuffer read(long at, int count) throws IOException {
        var buffer = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        read(at, buffer);
        return buffer.flip();
    }

    /// Fills a buffer.
    void read(long at, ByteBuffer buffer) throws IOException {
        if (at < 0 || at > length - buffer.remaining()) {
            throw new DamagedTreeException("the image points outside of itself: to octet " + at);
        }
        for (long next = at; buffer.hasRemaining(); ) {
            int n = file.read(buffer, next);
            if (n < 0) {
                throw new DamagedTreeException("the image became shorter while it was read");
            }
            next += n;
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
