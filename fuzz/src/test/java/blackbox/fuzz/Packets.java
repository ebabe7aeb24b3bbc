package blackbox.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Ethernet frames to begin with.
public final class Packets {
    private static final byte[] GUEST = {10, 0, 2, 15};
    private static final byte[] PEER = {10, 0, 2, 3};
    private static final int PCAP_MAGIC = 0xa1b2c3d4;
    private static final int TCP = 6;
    private static final int UDP = 17;

    private Packets() {}

    public static byte[] tcp(boolean out, int port, int sequence, int flags, byte[] payload) {
        ByteBuffer segment = ByteBuffer.allocate(20 + payload.length);
        segment.putShort((short) (out ? 40_000 : port)).putShort((short) (out ? port : 40_000));
        segment.putInt(sequence).putInt(1).put((byte) 0x50).put((byte) flags).putShort((short) 1000);
        return ipv4(out, TCP, segment.putInt(0).put(payload).array());
    }

    public static byte[] udp(boolean out, int port, byte[] payload) {
        return ipv4(out, UDP, datagram(out, port, payload));
    }

    private static byte[] datagram(boolean out, int port, byte[] payload) {
        ByteBuffer datagram = ByteBuffer.allocate(8 + payload.length);
        datagram.putShort((short) (out ? 40_000 : port)).putShort((short) (out ? port : 40_000));
        return datagram.putShort((short) (8 + payload.length))
                .putShort((short) 0)
                .put(payload)
                .array();
    }

    private static byte[] ipv4(boolean out, int protocol, byte[] body) {
        ByteBuffer frame = ByteBuffer.allocate(34 + body.length);
        frame.put(new byte[12]).putShort((short) 0x0800).put((byte) 0x45).put((byte) 0);
        frame.putShort((short) (20 + body.length)).putInt(0).put((byte) 64).put((byte) protocol);
        return frame.putShort((short) 0)
                .put(out ? GUEST : PEER)
                .put(out ? PEER : GUEST)
                .put(body)
                .array();
    }

    /// A datagram behind extension headers: hop by hop, routing, destination options and a first fragment's.
    public static byte[] ipv6(int port, byte[] payload) {
        byte[] body = datagram(true, port, payload);
        ByteBuffer frame = ByteBuffer.allocate(54 + 4 * 8 + body.length);
        frame.put(new byte[12]).putShort((short) 0x86dd).putInt(0x60000000);
        frame.putShort((short) (4 * 8 + body.length))
                .put((byte) 0)
                .put((byte) 64)
                .put(new byte[32]);
        for (int next : new int[] {43, 60, 44}) {
            frame.put((byte) next).put((byte) 0).put(new byte[6]);
        }
        return frame.put((byte) UDP).put(new byte[7]).put(body).array();
    }

    public static byte[] dns(boolean response) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(12)
                .putShort((short) 7)
                .putShort((short) (response ? 0x8180 : 0x0100))
                .putShort((short) 1)
                .putShort((short) (response ? 3 : 0))
                .array());
        out.writeBytes("\3www\7example\3org\0\0\1\0\1".getBytes(StandardCharsets.ISO_8859_1));
        if (response) {
            out.writeBytes("\300\14\0\5\0\1\0\0\0\1\0\2\300\20".getBytes(StandardCharsets.ISO_8859_1));
            out.writeBytes("\300\14\0\1\0\1\0\0\0\1\0\4\1\2\3\4".getBytes(StandardCharsets.ISO_8859_1));
            out.writeBytes("\300\14\0\34\0\1\0\0\0\1\0\20".getBytes(StandardCharsets.ISO_8859_1));
            out.writeBytes(new byte[16]);
        }
        return out.toByteArray();
    }

    /// With one extension, the server's name.
    public static byte[] clientHello() {
        byte[] name = "www.example.org".getBytes(StandardCharsets.US_ASCII);
        int extension = 5 + name.length;
        ByteBuffer hello = ByteBuffer.allocate(9 + 34 + 1 + 4 + 2 + 2 + 4 + extension);
        hello.put((byte) 22).putShort((short) 0x0301).putShort((short) (hello.capacity() - 5));
        hello.put((byte) 1).put((byte) 0).putShort((short) (hello.capacity() - 9));
        hello.putShort((short) 0x0303).put(new byte[32]).put((byte) 0);
        hello.putShort((short) 2).putShort((short) 0x1301).put((byte) 1).put((byte) 0);
        hello.putShort((short) (4 + extension)).putShort((short) 0).putShort((short) extension);
        hello.putShort((short) (extension - 2)).put((byte) 0).putShort((short) name.length);
        return hello.put(name).array();
    }

    /// A capture of these frames, a millisecond apart.
    public static byte[] pcap(byte[]... frames) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(24)
                .putInt(PCAP_MAGIC)
                .putShort((short) 2)
                .putShort((short) 4)
                .putLong(0)
                .putInt(1 << 18)
                .putInt(1)
                .array());
        int micros = 0;
        for (byte[] frame : frames) {
            micros += 1_000;
            out.writeBytes(ByteBuffer.allocate(16)
                    .putInt(1_700_000_000)
                    .putInt(micros)
                    .putInt(frame.length)
                    .putInt(frame.length)
                    .array());
            out.writeBytes(frame);
        }
        return out.toByteArray();
    }
}
