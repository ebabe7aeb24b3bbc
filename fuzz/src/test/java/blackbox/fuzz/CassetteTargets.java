package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.gateway.packet.IpPacket;
import blackbox.replay.cassette.CapturedFrames;
import blackbox.replay.cassette.Cassette;
import blackbox.replay.cassette.CassettePeer;
import blackbox.schemas.net.PcapReader;
import blackbox.schemas.net.TcpHeader;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// The network of a recorded run, from two captures that its guest wrote, played to a guest that is as hostile.
final class CassetteTargets {
    private static final int HEAD_BYTES = 4;
    private static final int SYN = TcpHeader.SYN;
    private static final int ACK = TcpHeader.ACK;
    private static final int FIN = TcpHeader.FIN | TcpHeader.ACK;
    /// What the peer may send for one frame of the guest's: a recorded answer, in segments.
    private static final int FRAMES_PER_FRAME_MAX = 4_096;

    private CassetteTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "cassette",
                        16 << 10,
                        CassetteTargets::play,
                        CassetteTargets::cassettes,
                        IOException.class,
                        UncheckedIOException.class),
                FuzzTarget.of(
                        "plaintext",
                        16 << 10,
                        CassetteTargets::plaintext,
                        CassetteTargets::plaintexts,
                        IOException.class));
    }

    /// What was said in TLS, with nothing on the wire.
    private static boolean plaintext(byte[] input) throws IOException {
        var nothing = new InMemory(Packets.pcap());
        int opened = Cassette.read(nothing, nothing, new InMemory(input)).openedCount();
        ensure(opened >= 0 && opened <= input.length / IpPacket.ETHERNET_BYTES, "connections that no frame opened");
        return opened > 0;
    }

    private static Map<String, byte[]> plaintexts() {
        byte[] request = ascii("GET / HTTP/1.1\r\n\r\n");
        byte[] answer = ascii("HTTP/1.1 204 No Content\r\n\r\n");
        byte[] whole = Packets.pcap(
                Packets.tcp(true, 443, 0, SYN, new byte[0]),
                Packets.tcp(false, 443, 0, SYN | ACK, new byte[0]),
                Packets.tcp(true, 443, 1, ACK, request),
                Packets.tcp(false, 443, 1, ACK, answer),
                Packets.tcp(true, 443, 1 + request.length, FIN, new byte[0]),
                Packets.tcp(false, 443, 1 + answer.length, FIN, new byte[0]));
        return Map.of("whole", whole, "cut", Arrays.copyOf(whole, whole.length - 30));
    }

    private record InMemory(byte[] octets) implements CapturedFrames {
        @Override
        public InputStream open() {
            return new ByteArrayInputStream(octets);
        }

        @Override
        public byte[] read(long offset, int length) throws IOException {
            if (offset < 0 || offset > octets.length - length) {
                throw new EOFException("beyond the capture");
            }
            return Arrays.copyOfRange(octets, (int) offset, (int) offset + length);
        }
    }

    /// What the recorded guest sent and received, and what this one sends; the first two lengths come first.
    private static boolean play(byte[] input) throws IOException {
        if (input.length < HEAD_BYTES) {
            return false;
        }
        ByteBuffer head = ByteBuffer.wrap(input);
        int sent = Math.min(input.length, HEAD_BYTES + Short.toUnsignedInt(head.getShort()));
        int received = Math.min(input.length, sent + Short.toUnsignedInt(head.getShort()));
        Cassette cassette = Cassette.read(
                new InMemory(Arrays.copyOfRange(input, HEAD_BYTES, sent)),
                new InMemory(Arrays.copyOfRange(input, sent, received)));
        var answers = new long[2];
        var peer = new CassettePeer(
                cassette,
                null,
                frame -> {
                    answers[0]++;
                    ensure(
                            frame.length > 0 && frame.length <= PcapReader.FRAME_BYTES_MAX,
                            "a frame of " + frame.length);
                },
                miss -> {
                    answers[1]++;
                    ensure(!miss.why().isEmpty(), "a miss without a reason");
                });
        long now = 0;
        int frames = 0;
        try (var live = new PcapReader(new ByteArrayInputStream(input, received, input.length - received))) {
            for (PcapReader.Frame frame = live.next(); frame != null; frame = live.next()) {
                peer.frame(frame.octets(), now);
                now += 10_000_000;
                long unused = peer.tick(now);
                frames++;
            }
        }
        for (int i = 0; i < 20; i++) {
            now += 1_000_000_000;
            long unused = peer.tick(now);
        }
        ensure(answers[0] <= (frames + 20L) * FRAMES_PER_FRAME_MAX, "the peer sends without end");
        CassettePeer.Played played = peer.played();
        ensure(
                played.unusedConnections() >= 0 && played.unusedDatagrams() >= 0 && played.missed() == answers[1],
                "what was played does not add up: " + played);
        return true;
    }

    private static Map<String, byte[]> cassettes() {
        byte[] request = ascii("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
        byte[] response = ascii("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        byte[] chunked = ascii("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        byte[] nothing = new byte[0];
        byte[] out = Packets.pcap(
                Packets.udp(true, 53, Packets.dns(false)),
                Packets.tcp(true, 80, 0, SYN, nothing),
                Packets.tcp(true, 80, 1, ACK, nothing),
                Packets.tcp(true, 80, 1, ACK, request),
                Packets.tcp(true, 80, 1 + request.length, FIN, nothing));
        byte[] in = Packets.pcap(
                Packets.udp(false, 53, Packets.dns(true)),
                Packets.tcp(false, 80, 0, SYN | ACK, nothing),
                Packets.tcp(false, 80, 1, ACK, nothing),
                Packets.tcp(false, 80, 1, ACK, response),
                Packets.tcp(false, 80, 1 + response.length, FIN, nothing));
        byte[] inChunks = Packets.pcap(
                Packets.udp(false, 53, Packets.dns(true)),
                Packets.tcp(false, 80, 0, SYN | ACK, nothing),
                Packets.tcp(false, 80, 1, ACK, chunked));
        return Map.of("http", joined(out, in, out), "chunked", joined(out, inChunks, out));
    }

    private static byte[] joined(byte[] out, byte[] in, byte[] live) {
        return ByteBuffer.allocate(HEAD_BYTES + out.length + in.length + live.length)
                .putShort((short) out.length)
                .putShort((short) in.length)
                .put(out)
                .put(in)
                .put(live)
                .array();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
