package blackbox.replay.cassette;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// Reads a classic pcap stream of Ethernet frames in either byte order, microseconds, and knows where each
/// frame is. Owned by one thread.
final class PcapStream implements AutoCloseable {
    private static final int MAGIC = 0xa1b2c3d4;
    private static final int HEADER_BYTES = 24;
    private static final int RECORD_BYTES = 16;
    private static final int FRAME_BYTES_MAX = 1 << 18;
    private static final int BUFFER_BYTES = 1 << 16;

    private final DataInputStream in;
    private boolean swapped;
    private long at;

    /// A frame.
    ///
    /// @param micros when it was seen, microseconds since the epoch of the capturing clock
    /// @param offset of its first octet in the capture
    record Frame(long micros, long offset, byte[] octets) {}

    PcapStream(InputStream in) {
        this.in = new DataInputStream(new BufferedInputStream(in, BUFFER_BYTES));
    }

    /// The next frame, or null at the end. A capture that ends within a frame ends there.
    ///
    /// @throws IOException when it is no Ethernet pcap or claims an impossible frame
    @Nullable
    Frame next() throws IOException {
        try {
            if (at == 0) {
                header();
            }
            long seconds = Integer.toUnsignedLong(number());
            long micros = Integer.toUnsignedLong(number());
            int length = number();
            number();
            if (length < 0 || length > FRAME_BYTES_MAX) {
                throw new IOException("a captured frame claims " + Integer.toUnsignedString(length) + " octets");
            }
            var octets = new byte[length];
            in.readFully(octets);
            long offset = at + RECORD_BYTES;
            at = offset + length;
            return new Frame(seconds * 1_000_000 + micros, offset, octets);
        } catch (EOFException e) {
            return null;
        }
    }

    private void header() throws IOException {
        int magic = in.readInt();
        swapped = magic == Integer.reverseBytes(MAGIC);
        if (!swapped && magic != MAGIC) {
            throw new IOException("the capture is no pcap stream");
        }
        in.skipNBytes(16);
        if (number() != 1) {
            throw new IOException("the capture is not Ethernet");
        }
        at = HEADER_BYTES;
    }

    private int number() throws IOException {
        int number = in.readInt();
        return swapped ? Integer.reverseBytes(number) : number;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
