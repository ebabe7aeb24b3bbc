package blackbox.gateway;

import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.schemas.net.Octets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A guest's kernel, as small as can be, at the other end of a gateway's socket: sends any frame, and has connections
/// that behave. A thread reads what the gateway sends.
final class TestGuest implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(30);
    static final byte[] MAC = HexFormat.of().parseHex("525400123456");
    static final byte[] GATEWAY_MAC = HexFormat.of().parseHex("52550a000202");
    static final byte[] ADDRESS = Octets.ofAddress("10.0.2.15");

    private final SocketChannel socket;
    private final Thread reader;
    private final Map<Integer, Consumer<TcpSegment>> tcp = new ConcurrentHashMap<>();
    /// What no connection took.
    final LinkedBlockingQueue<byte[]> others = new LinkedBlockingQueue<>();
    final RandomGenerator random;
    private volatile boolean paused;

    private TestGuest(SocketChannel socket, RandomGenerator random) {
        this.socket = socket;
        this.random = random;
        this.reader = Thread.ofPlatform().daemon().name("test-guest").start(this::read);
    }

    /// Both ends of a new link; the gateway's comes second.
    record Link(TestGuest guest, SocketChannel gateway) {}

    static Link link(Path folder, RandomGenerator random) throws IOException {
        var address = UnixDomainSocketAddress.of(folder.resolve("net" + Math.abs(random.nextInt())));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            var guest = new TestGuest(SocketChannel.open(address), random);
            return new Link(guest, server.accept());
        }
    }

    /// No longer takes frames, or does again.
    void pause(boolean now) {
        synchronized (this) {
            paused = now;
            notifyAll();
        }
    }

    private void read() {
        ByteBuffer in = ByteBuffer.allocate(1 << 18);
        try {
            while (socket.read(in) >= 0) {
                in.flip();
                while (in.remaining() >= 4 && in.remaining() - 4 >= in.getInt(in.position())) {
                    var frame = new byte[in.getInt()];
                    in.get(frame);
                    take(frame);
                }
                in.compact();
                awaitUnpaused();
            }
        } catch (ClosedChannelException | UncheckedIOException _) {
            return; // by the test, or by the gateway while something was being acknowledged
        } catch (IOException | InterruptedException e) {
            others.add(new byte[0]);
        }
    }

    private synchronized void awaitUnpaused() throws InterruptedException {
        while (paused) {
            wait();
        }
    }

    private void take(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        TcpSegment segment =
                packet == null || packet.protocol() != IpPacket.TCP ? null : TcpSegment.parse(packet.payload());
        Consumer<TcpSegment> receiver = segment == null ? null : tcp.get(segment.destinationPort());
        if (segment == null || receiver == null) {
            others.add(frame);
        } else {
            receiver.accept(segment);
        }
    }

    void onSegments(int port, Consumer<TcpSegment> receiver) {
        tcp.put(port, receiver);
    }

    /// Sends frames in one piece.
    void send(byte[]... frames) throws IOException {
        int length = 0;
        for (byte[] frame : frames) {
            length += 4 + frame.length;
        }
        ByteBuffer out = ByteBuffer.allocate(length);
        for (byte[] frame : frames) {
            out.putInt(frame.length).put(frame);
        }
        sendRaw(out.flip());
    }

    void sendRaw(ByteBuffer octets) throws IOException {
        synchronized (socket) {
            while (octets.hasRemaining()) {
                socket.write(octets);
            }
        }
    }

    static byte[] frame(IpPacket packet) {
        return packet.frame(GATEWAY_MAC, MAC);
    }

    static byte[] udp(String to, int from, int port, byte[] payload) {
        return frame(new UdpDatagram(from, port, payload, 0).packet(ADDRESS, Octets.ofAddress(to)));
    }

    static byte[] tcp(String to, TcpSegment segment) {
        return frame(segment.packet(ADDRESS, Octets.ofAddress(to)));
    }

    static TcpSegment syn(int from, int to, int sequence) {
        return new TcpSegment(from, to, sequence, 0, TcpSegment.SYN, 65_535, 1_460, new byte[0], 0);
    }

    /// The next frame that no connection took; fails if none comes.
    byte[] next() throws InterruptedException {
        byte[] frame = others.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (frame == null) {
            throw new AssertionError("the gateway sent nothing");
        }
        return frame;
    }

    /// The payload of the next datagram.
    byte[] nextDatagram() throws InterruptedException {
        for (; ; ) {
            IpPacket packet = IpPacket.parse(next());
            UdpDatagram datagram =
                    packet == null || packet.protocol() != IpPacket.UDP ? null : UdpDatagram.parse(packet.payload());
            if (datagram != null) {
                return datagram.payload();
            }
        }
    }

    /// What is there already.
    List<byte[]> drain() {
        var all = new ArrayList<byte[]>();
        others.drainTo(all);
        return all;
    }

    /// Opens a connection; the answer is awaited by the caller.
    TestConnection connect(String to, int port, int from) throws IOException {
        var connection = new TestConnection(this, to, port, from, random.nextInt());
        connection.open();
        return connection;
    }

    static @Nullable TcpSegment segment(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        return packet == null || packet.protocol() != IpPacket.TCP ? null : TcpSegment.parse(packet.payload());
    }

    @Override
    public void close() throws IOException {
        socket.close();
        pause(false);
        reader.interrupt();
    }
}
