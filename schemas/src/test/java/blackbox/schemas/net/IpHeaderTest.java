package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.net.IpHeader.Part;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IpHeaderTest {
    private static final int UDP = 17;
    private static final byte[] PAYLOAD = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    @Test
    void extensionHeadersArePassedOver() {
        // Hop-by-hop options (RFC 8200 section 4.3) with a router alert, routing of 24 octets, destination options.
        IpHeader ip = read(v6(0, "2b00050200000100", "3c02000000000000" + "00".repeat(16), "1100010400000000"));
        assertEquals(UDP, ip.protocol());
        assertEquals(14 + 40 + 8 + 24 + 8, ip.payloadAt());
        assertEquals(ip.payloadAt() + PAYLOAD.length, ip.end());
        assertEquals(Part.WHOLE, ip.part());
        assertTrue(ip.isWellFormed());
        assertEquals(6, ip.version());
        assertEquals(16, ip.addressBytes());
    }

    @Test
    void fragmentsAreToldApart() {
        assertEquals(Part.WHOLE, read(v6(44, "1100000000000007")).part(), "an atomic fragment (RFC 6946)");
        IpHeader first = read(v6(44, "1100000100000007"));
        assertEquals(Part.FIRST, first.part());
        assertEquals(UDP, first.protocol());
        assertEquals(14 + 40 + 8, first.payloadAt());
        assertEquals(Part.LATER, read(v6(44, "1100000800000007")).part());
        IpHeader later = read(v6(0, "2c00050200000000", "0000000800000007"));
        assertEquals(Part.LATER, later.part());
        assertEquals(14 + 40 + 16, later.payloadAt(), "what follows a later fragment is payload, not another header");
        byte[] v4 = v4();
        assertEquals(Part.WHOLE, read(v4).part());
        v4[20] = 0x20;
        assertEquals(Part.FIRST, read(v4).part());
        v4[21] = 1;
        assertEquals(Part.LATER, read(v4).part());
    }

    @Test
    void headersThatClaimTooMuchAreNotBelieved() {
        byte[] long6 = v6(0, "11ff050200000000");
        IpHeader ip = read(long6);
        assertFalse(ip.isWellFormed());
        assertEquals(ip.end(), ip.payloadAt());
        byte[] cut = Arrays.copyOf(v6(UDP), 14 + 40 + 3);
        assertFalse(read(cut).isWellFormed());
        assertEquals(cut.length, read(cut).end());
        byte[] v4 = v4();
        assertTrue(read(v4).isWellFormed());
        v4[14] = 0x44;
        assertFalse(read(v4).isWellFormed(), "a header of 16 octets");
        v4[14] = 0x65;
        assertFalse(read(v4).isWellFormed(), "another version");
        v4[14] = 0x45;
        v4[17] = 10;
        assertFalse(read(v4).isWellFormed(), "a packet that is shorter than its header");
    }

    @Test
    void whatIsNoIpHasNoHeader() {
        assertNull(IpHeader.of(new byte[13]));
        assertNull(IpHeader.of(Arrays.copyOf(v4(), 14 + 19)));
        assertNull(IpHeader.of(Arrays.copyOf(v6(UDP), 14 + 39)));
        byte[] arp = v4();
        arp[13] = 6;
        assertNull(IpHeader.of(arp));
    }

    @Test
    void noFrameLeadsOutOfItself() {
        long seed = 42;
        var random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            var frame = new byte[random.nextInt(120)];
            random.nextBytes(frame);
            if (frame.length > 20) {
                boolean v6 = random.nextBoolean();
                frame[12] = (byte) (v6 ? 0x86 : 0x08);
                frame[13] = (byte) (v6 ? 0xdd : 0);
                frame[20] = (byte) (v6 ? new int[] {0, 43, 44, 60}[random.nextInt(4)] : frame[20]);
            }
            IpHeader ip = IpHeader.of(frame);
            if (ip != null) {
                assertTrue(
                        ip.destinationAt() + ip.addressBytes() <= frame.length
                                && ip.payloadAt() <= ip.end()
                                && ip.end() <= frame.length,
                        () -> "seed " + seed + ": " + ip);
            }
        }
    }

    private static IpHeader read(byte[] frame) {
        IpHeader ip = IpHeader.of(frame);
        assertNotNull(ip);
        return ip;
    }

    /// A frame with extension headers, in hex, before [#PAYLOAD], and with Ethernet's padding behind it.
    private static byte[] v6(int next, String... extensions) {
        byte[] headers = HexFormat.of().parseHex(String.join("", extensions));
        var out = new ByteArrayOutputStream();
        out.writeBytes(HexFormat.of().parseHex("00".repeat(12) + "86dd" + "60000000"));
        out.write(0);
        out.write(headers.length + PAYLOAD.length);
        out.write(next);
        out.write(64);
        out.writeBytes(new byte[32]);
        out.writeBytes(headers);
        out.writeBytes(PAYLOAD);
        out.writeBytes(new byte[4]);
        return out.toByteArray();
    }

    private static byte[] v4() {
        var out = new ByteArrayOutputStream();
        out.writeBytes(HexFormat.of().parseHex("00".repeat(12) + "0800" + "4500"));
        out.write(0);
        out.write(20 + PAYLOAD.length);
        out.writeBytes(HexFormat.of().parseHex("00000000" + "4011" + "0000" + "00".repeat(8)));
        out.writeBytes(PAYLOAD);
        return out.toByteArray();
    }
}
