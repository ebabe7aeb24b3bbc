package blackbox.node.egress;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.packet.TcpSegment;
import blackbox.schemas.net.Octets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Keeps what went over connections whose TLS the gateway opened, without TLS, as frames in a pcap file: see
/// `schemas/capture.md`. The file is made with the first of them. Once it has reached its limit, or cannot be written,
/// nothing is added. Owned by the gateway's loop.
final class PlaintextCapture implements AutoCloseable {
    private static final int MAGIC = 0xa1b2c3d4;
    private static final int VERSION = 2 << 16 | 4;
    private static final int ETHERNET = 1;
    private static final int FILE_HEADER_BYTES = 24;
    private static final int FRAME_HEADER_BYTES = 16;
    private static final int SNAP_BYTES = 1 << 18;
    private static final int SEGMENT_BYTES_MAX = 32 << 10;
    private static final int WINDOW = 65_535;
    private static final byte[] GUEST = {0x02, 0, 0, 0, 0, 1};
    private static final byte[] OTHERS = {0x02, 0, 0, 0, 0, 2};

    private final Path file;
    private final long bytesMax;
    private final LongSupplier clock;
    private @Nullable FileChannel channel;
    private long written;
    private volatile @Nullable IOException failure;

    /// @param file that does not exist yet
    /// @param bytesMax after so many octets nothing is added; 0 keeps nothing
    /// @param clock nanoseconds since 1970
    PlaintextCapture(Path file, long bytesMax, LongSupplier clock) {
        this.file = file;
        this.bytesMax = bytesMax;
        this.clock = clock;
    }

    /// Why it has an end before that of the run; null if it has not, or because of its limit.
    @Nullable
    IOException failure() {
        return failure;
    }

    /// A connection whose octets are kept.
    PlaintextTap opened(Flow flow) {
        return new Connection(flow);
    }

    private void frame(TcpSegment segment, byte[] source, byte[] destination, boolean fromGuest) {
        if (failure != null || written >= bytesMax) {
            return;
        }
        byte[] octets =
                segment.packet(source, destination).frame(fromGuest ? OTHERS : GUEST, fromGuest ? GUEST : OTHERS);
        long micros = TimeUnit.NANOSECONDS.toMicros(clock.getAsLong());
        ByteBuffer record = ByteBuffer.allocate(FRAME_HEADER_BYTES + octets.length)
                .putInt((int) (micros / 1_000_000))
                .putInt((int) (micros % 1_000_000))
                .putInt(octets.length)
                .putInt(octets.length)
                .put(octets)
                .flip();
        try {
            write(record);
        } catch (IOException e) {
            failure = e;
        }
    }

    private void write(ByteBuffer record) throws IOException {
        FileChannel to = channel;
        if (to == null) {
            to = FileChannel.open(
                    file,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            channel = to;
            ByteBuffer header =
                    ByteBuffer.allocate(FILE_HEADER_BYTES).putInt(MAGIC).putInt(VERSION);
            write(to, header.putLong(0).putInt(SNAP_BYTES).putInt(ETHERNET).flip());
        }
        write(to, record);
    }

    private void write(FileChannel to, ByteBuffer octets) throws IOException {
        while (octets.hasRemaining()) {
            written += to.write(octets);
        }
    }

    /// Nothing is written after this.
    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        if (open != null) {
            open.close();
        }
    }

    /// Both sides begin with the sequence number 0.
    private final class Connection implements PlaintextTap {
        private final Flow flow;
        private final byte[] guest;
        private final byte[] remote;
        private int sent;
        private int received;

        Connection(Flow flow) {
            this.flow = flow;
            this.guest = Octets.ofAddress(flow.guest().ip());
            this.remote = Octets.ofAddress(flow.remote().ip());
            fromGuest(TcpSegment.SYN, new byte[0]);
            toGuest(TcpSegment.SYN | TcpSegment.ACK, new byte[0]);
        }

        private void fromGuest(int flags, byte[] octets) {
            var segment = new TcpSegment(
                    flow.guest().port(), flow.remote().port(), sent, received, flags, WINDOW, 0, octets, 0);
            frame(segment, guest, remote, true);
            sent = segment.end();
        }

        private void toGuest(int flags, byte[] octets) {
            var segment = new TcpSegment(
                    flow.remote().port(), flow.guest().port(), received, sent, flags, WINDOW, 0, octets, 0);
            frame(segment, remote, guest, false);
            received = segment.end();
        }

        private static byte[] next(ByteBuffer octets) {
            var piece = new byte[Math.min(SEGMENT_BYTES_MAX, octets.remaining())];
            octets.get(piece);
            return piece;
        }

        @Override
        public void sent(ByteBuffer octets) {
            while (octets.hasRemaining()) {
                fromGuest(TcpSegment.ACK | TcpSegment.PSH, next(octets));
            }
        }

        @Override
        public void received(ByteBuffer octets) {
            while (octets.hasRemaining()) {
                toGuest(TcpSegment.ACK | TcpSegment.PSH, next(octets));
            }
        }

        @Override
        public void finished() {
            fromGuest(TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
        }

        @Override
        public void over(End how) {
            switch (how) {
                case CLOSED -> toGuest(TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
                case RESET -> toGuest(TcpSegment.ACK | TcpSegment.RST, new byte[0]);
                case RESET_BY_GUEST -> fromGuest(TcpSegment.RST, new byte[0]);
            }
        }
    }
}
