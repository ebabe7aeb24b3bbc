package blackbox.replay.output;

import blackbox.recorder.capture.OutputPiece;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The octets of pieces as one stream, and when each was printed: after the piece before was received, and before
/// its own was, for a program may keep what it prints until its buffer is full. Owned by one thread.
public final class PieceInput extends InputStream implements WrittenWhen {

    /// Says that it is not known when the first octet may have been printed at the earliest; its piece's time
    /// counts.
    public static final long BEGAN_UNKNOWN = Long.MAX_VALUE;

    /// Gives pieces, and then null.
    @FunctionalInterface
    interface Source {
        @Nullable
        OutputPiece next() throws IOException;
    }

    private final Source source;
    private final Closeable file;
    private final PieceTimes times;
    private final long beganNs;
    private ByteBuffer piece = ByteBuffer.allocate(0);

    /// @param file closed with this
    /// @param beganNs when the first octet may have been printed at the earliest, or [#BEGAN_UNKNOWN]
    PieceInput(Source source, Closeable file, long beganNs) {
        this.source = source;
        this.file = file;
        this.times = new PieceTimes(beganNs);
        this.beganNs = beganNs;
    }

    /// No octets.
    static PieceInput none() {
        return new PieceInput(() -> null, () -> {}, BEGAN_UNKNOWN);
    }

    @Override
    public Window at(long octet) {
        return times.at(octet);
    }

    @Override
    public long sinceNs() {
        return beganNs;
    }

    @Override
    public boolean isPrinted() {
        return true;
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
            times.add(next.bytes(), next.atNs());
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
