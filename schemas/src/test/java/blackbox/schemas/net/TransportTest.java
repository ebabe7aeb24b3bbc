package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Headers of transports and DNS messages, as a hostile guest or network sends them.
class TransportTest {

    private static final RandomGenerator RANDOM = Seeded.random("TransportTest");

    /// Ports 40000 and 443, a SYN and an ACK, with the option MSS 1460, and two octets.
    private static final byte[] SEGMENT =
            HexFormat.of().parseHex("9c4001bb" + "80000001" + "fffffffe" + "6052faf000000000" + "020405b4" + "6869");

    /// Ports 40000 and 53, two octets, and two of padding.
    private static final byte[] DATAGRAM = HexFormat.of().parseHex("9c400035000a0000" + "6869" + "0000");

    @Test
    void aSegmentsFieldsAreWhereTheStandardHasThem() {
        assertEquals(
                new TcpHeader(40_000, 443, 0x80000001, 0xfffffffe, TcpHeader.SYN | TcpHeader.ACK, 0xfaf0, 24, true),
                TcpHeader.of(SEGMENT, 0, SEGMENT.length));
        assertEquals(new UdpHeader(40_000, 53, 8, 10, true), UdpHeader.of(DATAGRAM, 0, DATAGRAM.length));
    }

    @Test
    void aSegmentThatIsCutAnywhereIsReadAsFarAsItGoes() {
        for (int length = 0; length <= SEGMENT.length; length++) {
            TcpHeader header = TcpHeader.of(Arrays.copyOf(SEGMENT, length), 0, length);
            if (length < TcpHeader.BYTES_MIN) {
                assertNull(header, "cut to " + length);
            } else {
                assertNotNull(header, "cut to " + length);
                assertEquals(length >= 24, header.isWellFormed(), "cut to " + length);
                assertEquals(Math.min(length, 24), header.payloadAt(), "cut to " + length);
            }
        }
    }

    @Test
    void aDatagramThatIsCutAnywhereIsReadAsFarAsItGoes() {
        for (int length = 0; length <= DATAGRAM.length; length++) {
            UdpHeader header = UdpHeader.of(Arrays.copyOf(DATAGRAM, length), 0, length);
            if (length < UdpHeader.BYTES) {
                assertNull(header, "cut to " + length);
            } else {
                assertNotNull(header, "cut to " + length);
                assertEquals(length >= 10, header.isWellFormed(), "cut to " + length);
                assertEquals(Math.min(length, 10), header.payloadEnd(), "cut to " + length);
            }
        }
    }

    @Test
    void lengthsThatContradictTheirHeaderAreNotBelieved() {
        byte[] segment = SEGMENT.clone();
        segment[12] = 0x40;
        TcpHeader tcp = TcpHeader.of(segment, 0, segment.length);
        assertNotNull(tcp);
        assertFalse(tcp.isWellFormed());
        assertEquals(TcpHeader.BYTES_MIN, tcp.payloadAt());
        segment[12] = (byte) 0xf0;
        TcpHeader longer = TcpHeader.of(segment, 0, segment.length);
        assertTrue(longer != null && !longer.isWellFormed());
        byte[] datagram = DATAGRAM.clone();
        datagram[5] = 7;
        UdpHeader udp = UdpHeader.of(datagram, 0, datagram.length);
        assertNotNull(udp);
        assertFalse(udp.isWellFormed());
        assertEquals(udp.payloadAt(), udp.payloadEnd());
    }

    @Test
    void noHeaderLeadsOutOfItsPacket() {
        for (int i = 0; i < 100_000; i++) {
            byte[] octets = Seeded.octets(RANDOM, 80);
            int at = RANDOM.nextInt(octets.length + 1);
            int end = at + RANDOM.nextInt(octets.length - at + 1);
            TcpHeader tcp = TcpHeader.of(octets, at, end);
            assertEquals(end - at >= TcpHeader.BYTES_MIN, tcp != null);
            assertTrue(tcp == null || tcp.payloadAt() >= at + TcpHeader.BYTES_MIN && tcp.payloadAt() <= end);
            UdpHeader udp = UdpHeader.of(octets, at, end);
            assertEquals(end - at >= UdpHeader.BYTES, udp != null);
            assertTrue(udp == null
                    || udp.payloadAt() == at + UdpHeader.BYTES
                            && udp.payloadAt() <= udp.payloadEnd()
                            && udp.payloadEnd() <= end);
        }
    }

    private static byte[] question(String name, String behind) {
        byte[] head = HexFormat.of().parseHex("abcd01000001000000000000");
        byte[] tail = HexFormat.of().parseHex("00" + "001c0001" + behind);
        byte[] labels = name.getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = Arrays.copyOf(head, head.length + labels.length + tail.length);
        System.arraycopy(labels, 0, all, head.length, labels.length);
        System.arraycopy(tail, 0, all, head.length + labels.length, tail.length);
        return all;
    }

    @Test
    void aQuestionThatIsCutAnywhereIsNone() {
        byte[] whole = question("\7example\3COM", "");
        DnsMessage message = DnsMessage.parse(whole);
        assertNotNull(message);
        assertEquals("example.com", message.name());
        assertEquals(28, message.type());
        assertEquals(0xabcd, message.id());
        assertEquals(whole.length, message.onlyQuestionEnd());
        for (int length = 0; length < whole.length; length++) {
            assertNull(DnsMessage.parse(Arrays.copyOf(whole, length)), "cut to " + length);
        }
        DnsMessage followed = DnsMessage.parse(question("\1a", "00"));
        assertNotNull(followed);
        assertEquals(-1, followed.onlyQuestionEnd(), "octets that nothing announces");
    }

    @Test
    void namesThatLeadInCirclesOrOutOfTheMessageAreNone() {
        byte[] circle = question("\1a\300\14", "");
        assertNull(DnsMessage.parse(circle), "a pointer to its own name");
        assertNull(DnsMessage.parse(question("\1a\377\377", "")), "a pointer out of the message");
        assertNull(DnsMessage.parse(question("\1a\100", "")), "a label of a type that was never defined");
        assertNotNull(DnsMessage.parse(question(("\77" + "x".repeat(63)).repeat(4), "")), "a name of 255 octets");
        assertNull(DnsMessage.parse(question(("\77" + "x".repeat(63)).repeat(5), "")), "a longer name");
        DnsMessage binary = DnsMessage.parse(question("\77" + "\377".repeat(63) + "\77" + "\377".repeat(63), ""));
        assertNotNull(binary, "the octets count, not how they are shown");
        assertTrue(binary.name().startsWith("\\255\\255"));
    }

    @Test
    void aQuestionWithACompressedNameIsNoOnlyQuestion() {
        byte[] pointed = question("\300\4", "");
        pointed[5] = 1;
        DnsMessage message = DnsMessage.parse(Arrays.copyOf(pointed, pointed.length - 1));
        assertTrue(message == null || message.onlyQuestionEnd() == -1);
    }

    @Test
    void noMessageLeadsOutOfItself() {
        byte[] whole = question("\3abc\1d", "");
        for (int i = 0; i < 100_000; i++) {
            byte[] octets = RANDOM.nextBoolean() ? Seeded.octets(RANDOM, 90) : whole.clone();
            for (int changes = RANDOM.nextInt(6); changes > 0 && octets.length > 0; changes--) {
                octets[RANDOM.nextInt(octets.length)] = (byte) RANDOM.nextInt();
            }
            DnsMessage message = DnsMessage.parse(octets);
            assertTrue(message == null || message.onlyQuestionEnd() <= octets.length);
        }
    }
}
