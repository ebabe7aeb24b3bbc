package blackbox.gateway;

import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.schemas.net.Octets;
import java.io.IOException;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A [TestGuest] for the tests of other modules: connections as sockets, and frames of any kind with all that is
/// answered to them.
public final class FrameGuest implements AutoCloseable {
    private static final byte[] ROUTER = Octets.ofAddress("10.0.2.2");
    private static final byte[] OTHER_MAC = HexFormat.of().parseHex("525400aabbcc");
    private static final int FIRST_PORT = 40_000;

    private final TestGuest guest;
    private final SocketChannel gateway;
    private int port = FIRST_PORT;
    private int echoes;

    private FrameGuest(TestGuest.Link link) {
        this.guest = link.guest();
        this.gateway = link.gateway();
    }

    /// One with a new link.
    public static FrameGuest start(Path folder, RandomGenerator random) throws IOException {
        return new FrameGuest(TestGuest.link(folder, random));
    }

    /// The gateway's end of its link.
    public SocketChannel gateway() {
        return gateway;
    }

    /// Opens a connection.
    ///
    /// @param piece how many octets a segment has at most
    /// @return null if it is refused
    public @Nullable Socket connect(String to, int remote, int piece) throws IOException, InterruptedException {
        TestConnection connection = guest.connect(to, remote, port++).pieces(piece);
        return connection.opens() ? GuestSocket.of(connection) : null;
    }

    /// Sends frames, and an echo request after them.
    ///
    /// @return what came before its answer, which is all that these frames lead to at once
    public List<byte[]> answers(byte[]... frames) throws IOException, InterruptedException {
        guest.drain();
        var echo = new IcmpMessage(IpPacket.ICMP, 8, 0, new byte[] {0x62, 0x62, 0, (byte) ++echoes});
        byte[][] all = Arrays.copyOf(frames, frames.length + 1);
        all[frames.length] = TestGuest.frame(echo.packet(TestGuest.ADDRESS, ROUTER));
        guest.send(all);
        var answers = new ArrayList<byte[]>();
        for (byte[] frame = guest.next(); !isReply(frame, echo); frame = guest.next()) {
            answers.add(frame);
        }
        return answers;
    }

    private static boolean isReply(byte[] frame, IcmpMessage echo) {
        IpPacket packet = IpPacket.parse(frame);
        IcmpMessage message = packet == null || packet.protocol() != IpPacket.ICMP ? null : IcmpMessage.of(packet);
        return message != null && message.isEchoReply() && Arrays.equals(message.body(), echo.body());
    }

    /// The payload of a datagram; null if the frame has none.
    public static byte @Nullable [] payload(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        UdpDatagram datagram =
                packet == null || packet.protocol() != IpPacket.UDP ? null : UdpDatagram.parse(packet.payload());
        return datagram == null ? null : datagram.payload();
    }

    /// The code with which a frame says that a destination is unreachable; null if it does not.
    public static @Nullable Integer unreachable(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        IcmpMessage message = packet == null || packet.protocol() != IpPacket.ICMP ? null : IcmpMessage.of(packet);
        return message != null && message.saysUnreachable() ? message.code() : null;
    }

    /// A datagram.
    public byte[] udp(String to, int remote, byte[] payload) {
        return TestGuest.udp(to, port++, remote, payload);
    }

    /// What a guest sends that wants to be somebody else, or to go past what is looked at.
    ///
    /// @param kind such as `echo 8.8.8.8`
    public byte[] frame(String kind) {
        String[] words = kind.split(" ");
        String to = words.length > 1 ? words[1] : "93.184.216.10";
        byte[] there = Octets.ofAddress(to);
        TcpSegment syn = TestGuest.syn(port++, 443, 7);
        return switch (words[0]) {
            case "echo" ->
                TestGuest.frame(new IcmpMessage(IpPacket.ICMP, 8, 0, new byte[8]).packet(TestGuest.ADDRESS, there));
            case "timestamp" ->
                TestGuest.frame(new IcmpMessage(IpPacket.ICMP, 13, 0, new byte[16]).packet(TestGuest.ADDRESS, there));
            case "syn-of-another-mac" -> syn.packet(TestGuest.ADDRESS, there).frame(TestGuest.GATEWAY_MAC, OTHER_MAC);
            case "syn-of-another-address" -> TestGuest.frame(syn.packet(Octets.ofAddress("10.0.2.77"), there));
            case "syn-of-the-gateway" -> TestGuest.frame(syn.packet(ROUTER, there));
            case "udp-of-another-address" ->
                TestGuest.frame(new UdpDatagram(port, 53, new byte[20], 0).packet(Octets.ofAddress("8.8.4.4"), there));
            case "syn-to-port-0" -> TestGuest.tcp(to, TestGuest.syn(port, 0, 7));
            case "fragment" -> fragment(syn.packet(TestGuest.ADDRESS, there));
            case "protocol" ->
                TestGuest.frame(IpPacket.of(TestGuest.ADDRESS, there, Integer.parseInt(words[2]), new byte[32]));
            case "syn6" -> syn.packet(Octets.ofAddress("fe80::15"), there).frame(TestGuest.GATEWAY_MAC, TestGuest.MAC);
            case "udp6" ->
                new UdpDatagram(port, 53, new byte[20], 0)
                        .packet(Octets.ofAddress("fe80::15"), there)
                        .frame(TestGuest.GATEWAY_MAC, TestGuest.MAC);
            case "ethernet" -> {
                byte[] frame = TestGuest.frame(syn.packet(TestGuest.ADDRESS, there));
                Octets.putU16(frame, 12, Integer.parseInt(words[2], 16));
                yield frame;
            }
            case "arp-of-another" -> arp();
            case "cut" -> Arrays.copyOf(TestGuest.frame(syn.packet(TestGuest.ADDRESS, there)), 30);
            case "ack" ->
                TestGuest.tcp(to, new TcpSegment(port, 443, 9, 9, TcpSegment.ACK, 1_000, 0, new byte[] {1, 2, 3}, 0));
            case "syn-with-data" ->
                TestGuest.tcp(to, new TcpSegment(port, 443, 9, 0, TcpSegment.SYN, 1_000, 0, new byte[] {1, 2, 3}, 0));
            default -> throw new IllegalArgumentException("no frame is called " + kind);
        };
    }

    private static byte[] fragment(IpPacket packet) {
        byte[] frame = TestGuest.frame(packet);
        int at = IpPacket.ETHERNET_BYTES;
        Octets.putU16(frame, at + 6, 0x2000); // more come
        Octets.putU16(frame, at + 10, 0);
        Octets.putU16(frame, at + 10, Octets.checksum(Octets.sum(frame, at, at + 20, 0)));
        return frame;
    }

    /// An answer to nobody's question: that the router is here.
    private static byte[] arp() {
        var frame = new byte[42];
        Arrays.fill(frame, 0, 6, (byte) 0xff);
        System.arraycopy(TestGuest.MAC, 0, frame, 6, 6);
        System.arraycopy(HexFormat.of().parseHex("08060001080006040002"), 0, frame, 12, 10);
        System.arraycopy(TestGuest.MAC, 0, frame, 22, 6);
        System.arraycopy(ROUTER, 0, frame, 28, 4);
        return frame;
    }

    @Override
    public void close() throws IOException {
        guest.close();
    }
}
