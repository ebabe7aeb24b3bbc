package blackbox.recorder.net;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Builds Ethernet frames for tests.
final class Frames {

    static final byte[] GUEST = {10, 0, 2, 15};
    static final byte[] PEER = {10, 0, 2, 2};

    private Frames() {}

    static byte[] tcp(boolean out, int localPort, int remotePort, long sequence, int flags, byte[] payload) {
        ByteBuffer segment = ByteBuffer.allocate(20 + payload.length);
        segment.putShort((short) (out ? localPort : remotePort)).putShort((short) (out ? remotePort : localPort));
        segment.putInt((int) sequence)
                .putInt(0)
                .put((byte) 0x50)
                .put((byte) flags)
                .putShort((short) 1000)
                .putInt(0);
        return ipv4(out, 6, segment.put(payload).array());
    }

    static byte[] udp(boolean out, int localPort, int remotePort, byte[] payload) {
        ByteBuffer datagram = ByteBuffer.allocate(8 + payload.length);
        datagram.putShort((short) (out ? localPort : remotePort)).putShort((short) (out ? remotePort : localPort));
        datagram.putShort((short) (8 + payload.length)).putShort((short) 0);
        return ipv4(out, 17, datagram.put(payload).array());
    }

    /// Padded to the Ethernet minimum, as small frames are: the padding must not be counted.
    private static byte[] ipv4(boolean out, int protocol, byte[] body) {
        ByteBuffer frame = ByteBuffer.allocate(Math.max(60, 34 + body.length));
        frame.put(new byte[12]).putShort((short) 0x0800);
        frame.put((byte) 0x45)
                .put((byte) 0)
                .putShort((short) (20 + body.length))
                .putInt(0);
        frame.put((byte) 64).put((byte) protocol).putShort((short) 0);
        frame.put(out ? GUEST : PEER).put(out ? PEER : GUEST).put(body);
        return frame.array();
    }

    static byte[] dnsQuestion(int id, String name, int type) {
        return dns(id, 0x0100, name, type, 0, new byte[0]);
    }

    /// An answer with one A record whose name is a pointer to the question.
    static byte[] dnsAnswer(int id, String name, byte[] address) {
        ByteBuffer record = ByteBuffer.allocate(16);
        record.putShort((short) 0xc00c).putShort((short) 1).putShort((short) 1).putInt(60);
        record.putShort((short) 4).put(address);
        return dns(id, 0x8180, name, 1, 1, record.array());
    }

    private static byte[] dns(int id, int flags, String name, int type, int answers, byte[] records) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(12)
                .putShort((short) id)
                .putShort((short) flags)
                .putShort((short) 1)
                .putShort((short) answers)
                .array());
        for (String label : name.split("\\.")) {
            out.write(label.length());
            out.writeBytes(label.getBytes(StandardCharsets.US_ASCII));
        }
        out.write(0);
        out.writeBytes(new byte[] {0, (byte) type, 0, 1});
        out.writeBytes(records);
        return out.toByteArray();
    }

    /// What is in one record, in records with at most `each` octets.
    static byte[] inRecords(byte[] record, int each) {
        var records = new ByteArrayOutputStream();
        for (int at = 5; at < record.length; at += each) {
            int length = Math.min(each, record.length - at);
            records.write(record, 0, 3);
            records.write(length >> 8);
            records.write(length);
            records.write(record, at, length);
        }
        return records.toByteArray();
    }

    /// A ClientHello with one extension, the server name.
    static byte[] clientHello(String host) {
        byte[] name = host.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer body = ByteBuffer.allocate(34 + 1 + 4 + 2 + 2 + 4 + 5 + name.length);
        body.put(HexFormat.of().parseHex("0303")).put(new byte[32]).put((byte) 0);
        body.putShort((short) 2).putShort((short) 0x1301).put((byte) 1).put((byte) 0);
        body.putShort((short) (9 + name.length)).putShort((short) 0).putShort((short) (5 + name.length));
        body.putShort((short) (3 + name.length))
                .put((byte) 0)
                .putShort((short) name.length)
                .put(name);
        ByteBuffer hello = ByteBuffer.allocate(9 + body.position());
        hello.put(HexFormat.of().parseHex("160301")).putShort((short) (4 + body.position()));
        hello.put((byte) 1).put((byte) 0).putShort((short) body.position()).put(body.array(), 0, body.position());
        return hello.array();
    }
}
