package blackbox.recorder.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.event.Event;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FlowTableTest {

    private static final long SECOND_NS = 1_000_000_000L;
    private static final byte[] NONE = new byte[0];

    private final FlowTable table = new FlowTable();
    private final List<Event> events = new ArrayList<>();
    private long nowNs = 1_700_000_000L * SECOND_NS;

    private void out(byte[] frame) {
        events.addAll(table.add(frame, Direction.OUT, nowNs));
    }

    private void in(byte[] frame) {
        events.addAll(table.add(frame, Direction.IN, nowNs));
    }

    private List<Event.NetFlow> flows(String what) {
        return events.stream()
                .filter(Event.NetFlow.class::isInstance)
                .map(Event.NetFlow.class::cast)
                .filter(flow -> what.equals(flow.what()))
                .toList();
    }

    @Test
    void countsTheStreamNotTheRetransmissionsNorThePadding() {
        long isn = 0xffff_fff0L;
        out(Frames.tcp(true, 40000, 80, isn, Packet.SYN, NONE));
        in(Frames.tcp(false, 40000, 80, 7, Packet.SYN, NONE));
        out(Frames.tcp(true, 40000, 80, isn + 1, 0, new byte[100]));
        out(Frames.tcp(true, 40000, 80, isn + 1, 0, new byte[100]));
        out(Frames.tcp(true, 40000, 80, isn + 51 & 0xffffffffL, 0, new byte[100]));
        in(Frames.tcp(false, 40000, 80, 8, 0, new byte[1000]));
        out(Frames.tcp(true, 40000, 80, isn + 151 & 0xffffffffL, Packet.FIN, NONE));
        in(Frames.tcp(false, 40000, 80, 1008, Packet.FIN, NONE));
        nowNs += 3 * SECOND_NS;
        in(Frames.udp(false, 1, 2, NONE));
        Event.NetFlow closed = flows("closed").getFirst();
        assertEquals(150, closed.bytesOut());
        assertEquals(1000, closed.bytesIn());
        assertEquals(5, closed.packetsOut());
        assertNotNull(closed.remote());
        assertEquals("10.0.2.2", closed.remote().ip());
        assertEquals(80, closed.remote().port());
    }

    @Test
    void directionIsTheHypervisorsWordNotTheFrames() {
        out(Frames.udp(false, 5, 6, new byte[9]));
        events.addAll(table.close(nowNs));
        Event.NetFlow flow = flows("unfinished").getFirst();
        assertEquals(9, flow.bytesOut());
        assertEquals(0, flow.bytesIn());
    }

    @Test
    void namesAFlowByItsServerNameAlsoWhenTheHelloIsSplit() {
        byte[] hello = Frames.clientHello("api.example.org");
        out(Frames.tcp(true, 40001, 443, 1, 0, Arrays.copyOf(hello, 20)));
        out(Frames.tcp(true, 40001, 443, 21, 0, Arrays.copyOfRange(hello, 20, hello.length)));
        events.addAll(table.close(nowNs));
        assertEquals(
                "api.example.org", String.valueOf(flows("unfinished").getFirst().host()));
    }

    @Test
    void pairsDnsQuestionsAndAnswersAndNamesTheFlowsThatFollow() {
        out(Frames.udp(true, 3333, 53, Frames.dnsQuestion(77, "Peer.Example", 1)));
        in(Frames.udp(false, 3333, 53, Frames.dnsAnswer(77, "peer.example", Frames.PEER)));
        out(Frames.tcp(true, 40002, 8080, 1, Packet.SYN, NONE));
        out(Frames.udp(true, 3333, 53, Frames.dnsQuestion(78, "unanswered.example", 28)));
        events.addAll(table.close(nowNs));
        List<Event.DnsQuery> asked = events.stream()
                .filter(Event.DnsQuery.class::isInstance)
                .map(Event.DnsQuery.class::cast)
                .toList();
        assertEquals("peer.example", asked.get(0).name().toString());
        assertEquals("[10.0.2.2]", asked.get(0).answers().toString());
        assertEquals("unanswered.example", asked.get(1).name().toString());
        assertTrue(asked.get(1).answers().isEmpty());
        assertTrue(flows("open").stream().anyMatch(flow -> "peer.example".equals(String.valueOf(flow.host()))));
    }

    @Test
    void anyFrameIsCountedAndNoneThrows() {
        var random = new Random(20261121);
        int frames = 20_000;
        for (int i = 0; i < frames; i++) {
            byte[] frame = i % 2 == 0
                    ? Frames.tcp(
                            true,
                            random.nextInt(9),
                            random.nextInt(9),
                            random.nextInt(),
                            random.nextInt(64),
                            new byte[30])
                    : Frames.udp(true, 3333, 53, Frames.dnsAnswer(1, "a.b", Frames.PEER));
            for (int flips = random.nextInt(6); flips >= 0; flips--) {
                frame[random.nextInt(frame.length)] = (byte) random.nextInt();
            }
            frame = Arrays.copyOf(frame, random.nextInt(frame.length + 1));
            out(frame);
        }
        events.addAll(table.close(nowNs));
        long counted = events.stream()
                .filter(event -> event instanceof Event.NetFlow flow && !"open".equals(flow.what()))
                .mapToLong(event -> {
                    Long packets = ((Event.NetFlow) event).packetsOut();
                    return packets == null ? 0 : packets;
                })
                .sum();
        assertEquals(frames, counted);
    }

    @Test
    void aFullTableGivesOutItsOldestFlow() {
        for (int i = 0; i <= FlowTable.FLOWS_MAX; i++) {
            out(Frames.udp(true, i, 1 + i / 60_000, new byte[1]));
        }
        assertEquals(1, flows("evicted").size());
    }

    @Test
    void readsPcapInBothByteOrdersAndRefusesOtherStreams() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            ByteBuffer stream = ByteBuffer.allocate(24 + 16 + 3 + 7).order(order);
            stream.putInt(0xa1b2c3d4)
                    .putInt(0)
                    .putInt(0)
                    .putInt(0)
                    .putInt(65535)
                    .putInt(1);
            stream.putInt(1).putInt(2).putInt(3).putInt(3).put(new byte[] {1, 2, 3});
            var frames = new ArrayList<byte[]>();
            new PcapReader(new ByteArrayInputStream(stream.array())).forEach(frames::add);
            assertEquals(1, frames.size(), "the record that is cut off is no frame");
            assertEquals(3, frames.getFirst().length);
            stream.putInt(24 + 8, 1 << 30);
            assertThrows(
                    IOException.class,
                    () -> new PcapReader(new ByteArrayInputStream(stream.array())).forEach(frames::add));
        }
        assertThrows(
                IOException.class, () -> new PcapReader(new ByteArrayInputStream(new byte[40])).forEach(frame -> {}));
    }

    @Test
    void ipv6TextIsCanonical() {
        var octets = new byte[16];
        assertEquals("::", IpAddress.v6(octets, 0));
        octets[15] = 1;
        assertEquals("::1", IpAddress.v6(octets, 0));
        octets[0] = 0x20;
        octets[1] = 1;
        octets[7] = 5;
        assertEquals("2001:0:0:5::1", IpAddress.v6(octets, 0));
        octets[0] = octets[1] = octets[7] = octets[15] = 0;
        octets[10] = octets[11] = (byte) 0xff;
        octets[12] = 9;
        assertEquals("9.0.0.0", IpAddress.v6(octets, 0));
    }

    @Test
    void aDnsNameThatPointsAtItselfIsNoName() {
        byte[] message = Frames.dnsQuestion(1, "a.b", 1);
        message[12] = (byte) 0xc0;
        message[13] = 12;
        assertNull(DnsMessage.parse(message));
    }
}
