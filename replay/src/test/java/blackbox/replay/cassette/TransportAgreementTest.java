package blackbox.replay.cassette;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.recorder.net.FlowTable;
import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.Seeded;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What a replay serves from a recording's frames is what the recorder saw in them: a replay may refuse a frame
/// that the recorder counts, but never reads a different flow or question from it.
class TransportAgreementTest {

    private static final RandomGenerator RANDOM = Seeded.random("TransportAgreementTest");
    private static final byte[] QUESTION =
            HexFormat.of().parseHex("abcd01000001000000000000" + "076578616d706c6503636f6d00" + "00010001");
    private static final byte[] NOBODY = new byte[6];

    private static byte[] frame(boolean v6, boolean tcp, byte[] payload) {
        byte[] from = Octets.ofAddress(v6 ? "fd00::1" : "10.0.2.15");
        byte[] to = Octets.ofAddress(v6 ? "fd00::2" : "10.0.2.3");
        IpPacket packet = tcp
                ? new TcpSegment(40_000, 53, 7, 9, TcpSegment.ACK, 100, 0, payload, 0).packet(from, to)
                : new UdpDatagram(40_000, 53, payload, 0).packet(from, to);
        return packet.frame(NOBODY, NOBODY);
    }

    /// Puts destination options of 8 octets before the transport of an IPv6 frame.
    private static byte[] withOptions(byte[] frame) {
        byte[] longer = new byte[frame.length + 8];
        System.arraycopy(frame, 0, longer, 0, 54);
        System.arraycopy(frame, 54, longer, 62, frame.length - 54);
        Octets.putU16(longer, 18, Octets.u16(frame, 18) + 8);
        longer[54] = frame[20];
        longer[20] = 60;
        longer[56] = 1;
        longer[57] = 4;
        return longer;
    }

    @Test
    void whatAReplayReadsIsWhatTheRecorderCounted() {
        for (boolean v6 : new boolean[] {false, true}) {
            for (boolean tcp : new boolean[] {false, true}) {
                byte[] plain = frame(v6, tcp, QUESTION);
                assertAgree(plain, true);
                for (byte[] frame : v6 ? List.of(plain, withOptions(plain)) : List.of(plain)) {
                    assertAgree(frame, true);
                    for (int length = 0; length < frame.length; length++) {
                        assertAgree(Arrays.copyOf(frame, length), false);
                    }
                    for (int i = 0; i < 5_000; i++) {
                        byte[] changed = frame.clone();
                        for (int changes = RANDOM.nextInt(1, 6); changes > 0; changes--) {
                            changed[RANDOM.nextInt(12, changed.length)] = (byte) RANDOM.nextInt();
                        }
                        assertAgree(changed, false);
                    }
                }
            }
        }
    }

    private static void assertAgree(byte[] frame, boolean readable) {
        String shown = HexFormat.of().formatHex(frame);
        Event.NetFlow seen = flow(frame);
        Read read = read(frame);
        assertTrue(read != null || !readable, shown);
        if (read != null) {
            assertEquals(read.protocol(), seen.protocol(), shown);
            assertEquals(read.source(), seen.local(), shown);
            assertEquals(read.destination(), seen.remote(), shown);
            assertEquals(read.payload().length, seen.bytesOut(), shown);
        }
    }

    private record Read(String protocol, Endpoint source, Endpoint destination, byte[] payload) {}

    private static @Nullable Read read(byte[] frame) {
        IpPacket packet = IpPacket.parse(frame);
        if (packet == null || packet.fragment()) {
            return null;
        }
        String source = IpAddress.text(packet.source());
        String destination = IpAddress.text(packet.destination());
        TcpSegment tcp = packet.protocol() == IpPacket.TCP ? TcpSegment.parse(packet.payload()) : null;
        if (tcp != null) {
            return new Read(
                    "tcp",
                    new Endpoint(source, tcp.sourcePort()),
                    new Endpoint(destination, tcp.destinationPort()),
                    tcp.payload());
        }
        UdpDatagram udp = packet.protocol() == IpPacket.UDP ? UdpDatagram.parse(packet.payload()) : null;
        return udp == null
                ? null
                : new Read(
                        "udp",
                        new Endpoint(source, udp.sourcePort()),
                        new Endpoint(destination, udp.destinationPort()),
                        udp.payload());
    }

    private static Event.NetFlow flow(byte[] frame) {
        var table = new FlowTable();
        table.add(frame, Direction.OUT, 1);
        return table.close(2).stream()
                .flatMap(event -> event instanceof Event.NetFlow flow
                        ? List.of(flow).stream()
                        : List.<Event.NetFlow>of().stream())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatAReplayAnswersAsAQuestionTheRecorderReadAsOne() {
        assertTrue(DnsForm.question(QUESTION).dns());
        for (int i = 0; i < 50_000; i++) {
            byte[] message = RANDOM.nextInt(4) == 0 ? Seeded.octets(RANDOM, 60) : QUESTION.clone();
            for (int changes = RANDOM.nextInt(5); changes > 0 && message.length > 0; changes--) {
                message[RANDOM.nextInt(message.length)] = (byte) RANDOM.nextInt();
            }
            String shown = HexFormat.of().formatHex(message);
            boolean question = DnsForm.question(message).dns();
            DnsMessage read = DnsMessage.parse(message);
            byte[] failure = DnsForm.failure(message);
            assertEquals(question, failure != null, shown);
            if (failure != null) {
                assertNotNull(read, shown);
                DnsMessage answer = DnsMessage.parse(failure);
                assertNotNull(answer, shown);
                assertEquals(read.name(), answer.name(), shown);
                assertEquals(read.id(), answer.id(), shown);
                assertTrue(answer.isResponse(), shown);
            }
        }
        for (int length = 0; length < QUESTION.length; length++) {
            byte[] cut = Arrays.copyOf(QUESTION, length);
            assertEquals(DnsMessage.parse(cut) != null, DnsForm.question(cut).dns(), "cut to " + length);
        }
        byte[] text = "not a message at all, only text".getBytes(StandardCharsets.US_ASCII);
        assertEquals(false, DnsForm.question(text).dns());
    }
}
