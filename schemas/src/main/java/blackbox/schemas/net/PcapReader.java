package blackbox.schemas.net;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// Reads a classic pcap stream (magic a1b2c3d4 in either byte order, Ethernet, microseconds) as QEMU's
/// filter-dump writes it, and knows the offset of each frame. A frame that is cut off at the end of the
/// stream is ignored. Owned by one thread.
public final class PcapReader implements AutoCloseable {

    /// The longest frame accepted; QEMU's virtio-net delivers at most 64 KiB plus headers.
    public static final int FRAME_BYTES_MAX = 1 << 18;

    private static final int MAGIC = 0xa1b2c3d4;
    private static final int ETHERNET = 1;
    private static final int HEADER_BYTES = 24;
    private static final int RECORD_BYTES = 16;
    private static final int BUFFER_BYTES = 1 << 16;

    private final DataInputStream in;
    private boolean swapped;
    private long at;

    /// A frame.
    ///
    /// @param micros when it was seen, microseconds since the epoch of the capturing clock
    /// @param offset of its first octet in the stream
    public record Frame(long micros, long offset, byte[] octets) {}

    public PcapReader(InputStream in) {
        this.in = new DataInputStream(new BufferedInputStream(in, BUFFER_BYTES));
    }

    /// The next frame; null at the end.
    ///
    /// @throws IOException when the stream is not an Ethernet pcap or claims an impossible frame
    public @Nullable Frame next() throws IOException {
        try {
            if (at == 0) {
                readHeader();
            }
            long seconds = Integer.toUnsignedLong(number());
            long micros = Integer.toUnsignedLong(number());
            int captured = number();
            in.skipNBytes(Integer.BYTES);
            if (captured < 0 || captured > FRAME_BYTES_MAX) {
                throw new IOException("a pcap record claims " + Integer.toUnsignedString(captured) + " octets");
            }
            var octets = new byte[captured];
            in.readFully(octets);
            long offset = at + RECORD_BYTES;
            at = offset + captured;
            return new Frame(seconds * 1_000_000 + micros, offset, octets);
        } catch (EOFException e) {
            return null;
        }
    }

    private void readHeader() throws IOException {
        int magic = in.readInt();
        swapped = magic == Integer.reverseBytes(MAGIC);
        if (!swapped && magic != MAGIC) {
            throw new IOException("the frame stream is not a pcap stream");
        }
        in.skipNBytes(16);
        if (number() != ETHERNET) {
            throw new IOException("the frame stream is not Ethernet");
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
