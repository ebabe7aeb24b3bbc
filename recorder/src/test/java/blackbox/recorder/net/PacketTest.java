package blackbox.recorder.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import blackbox.schemas.event.Endpoint;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// A frame is counted whatever it holds: what cannot be read is under the name of what could.
class PacketTest {

    private static final RandomGenerator RANDOM = Seeded.random("PacketTest");

    /// A UDP datagram over IPv6 behind hop-by-hop and destination options, from port 40000 to 53, with two octets.
    private static final byte[] FRAME = HexFormat.of()
            .parseHex("00".repeat(12) + "86dd" + "60000000001a0040" + "fd000000000000000000000000000001"
                    + "fd000000000000000000000000000002" + "3c00050200000100" + "1100010400000000" + "9c400035000a0000"
                    + "6869");

    @Test
    void extensionHeadersDoNotHideTheTransport() {
        Packet packet = Packet.parse(FRAME);
        assertEquals("udp", packet.protocol());
        assertEquals(new Endpoint("fd00::1", 40_000), packet.source());
        assertEquals(new Endpoint("fd00::2", 53), packet.destination());
        assertEquals("hi", new String(packet.payload(), java.nio.charset.StandardCharsets.US_ASCII));
    }

    @Test
    void aFrameThatIsCutAnywhereIsCountedAsWhatIsLeft() {
        for (int length = 0; length < FRAME.length; length++) {
            Packet packet = Packet.parse(Arrays.copyOf(FRAME, length));
            String expected = length < 14
                    ? "ether-short"
                    : length < 54 ? "ether-86dd" : length < 62 ? "0" : length < 70 ? "60" : length < 78 ? "17" : "udp";
            assertEquals(expected, packet.protocol(), "cut to " + length);
        }
    }

    @Test
    void noiseIsCountedToo() {
        for (int i = 0; i < 100_000; i++) {
            byte[] frame = RANDOM.nextBoolean() ? Seeded.octets(RANDOM, 120) : FRAME.clone();
            for (int changes = RANDOM.nextInt(8); changes > 0 && frame.length > 0; changes--) {
                frame[RANDOM.nextInt(frame.length)] = (byte) RANDOM.nextInt();
            }
            Packet packet = Packet.parse(frame);
            assertTrue(packet.payload().length <= frame.length);
        }
    }
}
