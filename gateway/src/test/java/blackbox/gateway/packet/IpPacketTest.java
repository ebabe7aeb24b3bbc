package blackbox.gateway.packet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class IpPacketTest {
    private static final byte[] HERE = Octets.ofAddress("fec0::15");
    private static final byte[] THERE = Octets.ofAddress("2001:db8::7");
    private static final byte[] PAYLOAD = {0, 53, 0, 54, 0, 9, 0, 0, 42};

    @Test
    void whatFollowsExtensionHeadersIsRead() {
        byte[] frame = frame(0, "1100050200000100");
        IpPacket packet = IpPacket.parse(frame);
        assertNotNull(packet);
        assertEquals(IpPacket.UDP, packet.protocol());
        assertArrayEquals(PAYLOAD, packet.payload());
        assertEquals(frame.length - PAYLOAD.length, packet.payloadAt());
        assertArrayEquals(HERE, packet.source());
        assertArrayEquals(THERE, packet.destination());
        assertFalse(packet.fragment());
    }

    @Test
    void onlyAPartOfAPacketIsAFragment() {
        IpPacket atomic = IpPacket.parse(frame(44, "1100000000000007"));
        assertNotNull(atomic);
        assertFalse(atomic.fragment(), "RFC 6946");
        assertArrayEquals(PAYLOAD, atomic.payload());
        IpPacket first = IpPacket.parse(frame(0, "2c00050200000000", "1100000100000007"));
        assertTrue(first != null && first.fragment(), "it follows another header");
        assertNull(IpPacket.parse(frame(0, "11ff050200000000")), "a header that is longer than its packet");
        byte[] whole = frame(17);
        assertNull(IpPacket.parse(Arrays.copyOf(whole, whole.length - 1)));
    }

    private static byte[] frame(int next, String... extensions) {
        byte[] headers = HexFormat.of().parseHex(String.join("", extensions));
        var body = new ByteArrayOutputStream();
        body.writeBytes(headers);
        body.writeBytes(PAYLOAD);
        return IpPacket.of(HERE, THERE, next, body.toByteArray()).frame(new byte[6], new byte[6]);
    }
}
