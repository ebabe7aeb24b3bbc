package blackbox.replay.output;

import blackbox.recorder.capture.OutputPiece;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The octets of pieces as one stream. Owned by one thread.
final class PieceInput extends InputStream {

    /// Gives pieces, and then null.
    @FunctionalInterface
    interface Source {
        @Nullable
        OutputPiece next() throws IOException;
    }

    private final Source source;
    private final Closeable file;
    private ByteBuffer piece = ByteBuffer.allocate(0);

    /// @param file closed with this
    PieceInput(Source source, Closeable file) {
        this.source = source;
        this.file = file;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!piece.hasRemaining()) {
            OutputPiece next = source.next();
            if (next == null) {
                return -1;
            }
            piece = next.octets();
        }
        int count = Math.min(length, piece.remaining());
        piece.get(into, offset, count);
        return count;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
