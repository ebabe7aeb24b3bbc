package blackbox.recorder.net;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/// Reads a classic pcap stream (magic a1b2c3d4 in either byte order, Ethernet) as QEMU's filter-dump writes it.
public final class PcapReader {

    /// The longest frame believed; QEMU's virtio-net hands over at most 64 KiB and its headers.
    static final int FRAME_BYTES_MAX = 1 << 18;

    private static final int MAGIC = 0xa1b2c3d4;

    private final DataInputStream in;

    public PcapReader(InputStream in) {
        this.in = new DataInputStream(in);
    }

    /// Hands every frame to `sink` until the stream ends. A stream that ends within a frame ends there.
    ///
    /// @throws IOException when the stream is no Ethernet pcap or claims an impossible frame
    public void forEach(Consumer<byte[]> sink) throws IOException {
        try {
            boolean swapped = readHeader();
            while (true) {
                in.skipNBytes(8);
                int captured = number(swapped);
                in.skipNBytes(4);
                if (captured < 0 || captured > FRAME_BYTES_MAX) {
                    throw new IOException("a pcap record claims " + Integer.toUnsignedString(captured) + " octets");
                }
                var frame = new byte[captured];
                in.readFully(frame);
                sink.accept(frame);
            }
        } catch (EOFException e) {
            return;
        }
    }

    private boolean readHeader() throws IOException {
        int magic = in.readInt();
        boolean swapped = magic == Integer.reverseBytes(MAGIC);
        if (!swapped && magic != MAGIC) {
            throw new IOException("the frame stream is no pcap stream");
        }
        in.skipNBytes(16);
        if (number(swapped) != 1) {
            throw new IOException("the frame stream is not Ethernet");
        }
        return swapped;
    }

    private int number(boolean swapped) throws IOException {
        int number = in.readInt();
        return swapped ? Integer.reverseBytes(number) : number;
    }
}
