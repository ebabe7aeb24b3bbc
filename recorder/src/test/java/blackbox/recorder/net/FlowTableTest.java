package blackbox.recorder.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.TcpHeader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        out(Frames.tcp(true, 40000, 80, isn, TcpHeader.SYN, NONE));
        in(Frames.tcp(false, 40000, 80, 7, TcpHeader.SYN, NONE));
        out(Frames.tcp(true, 40000, 80, isn + 1, 0, new byte[100]));
        out(Frames.tcp(true, 40000, 80, isn + 1, 0, new byte[100]));
        out(Frames.tcp(true, 40000, 80, isn + 51 & 0xffffffffL, 0, new byte[100]));
        in(Frames.tcp(false, 40000, 80, 8, 0, new byte[1000]));
        out(Frames.tcp(true, 40000, 80, isn + 151 & 0xffffffffL, TcpHeader.FIN, NONE));
        in(Frames.tcp(false, 40000, 80, 1008, TcpHeader.FIN, NONE));
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
        out(Frames.tcp(true, 40002, 8080, 1, TcpHeader.SYN, NONE));
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

    /// The beginning of a ClientHello that says it is 16 KiB long.
    private static byte[] halfHello(int length) {
        var hello = new byte[length];
        hello[0] = 22;
        hello[3] = 0x40;
        hello[5] = 1;
        hello[7] = 0x3f;
        hello[8] = (byte) 0xfc;
        return hello;
    }

    private static boolean saysNameUnread(Event.NetFlow flow) {
        return flow.header().marks().unread().equals(List.of("host"));
    }

    /// Each flow has sent almost as much as is waited for: 134 MB if all of it were held.
    @Test
    void halfSentHellosAreHeldOnlyUpToASumAndTheFirstAreGivenUp() {
        int each = TlsServerName.HELLO_BYTES_MAX - 1;
        byte[] half = halfHello(each);
        for (int i = 0; i < FlowTable.FLOWS_MAX; i++) {
            out(Frames.tcp(true, i, 443, 1, 0, half));
            assertTrue(table.helloBytes() <= ClientHellos.BYTES_MAX);
        }
        int held = ClientHellos.BYTES_MAX / each;
        assertEquals(held * each, table.helloBytes());
        events.addAll(table.close(nowNs));
        List<Event.NetFlow> ended = flows("unfinished");
        assertEquals(FlowTable.FLOWS_MAX, ended.size());
        int givenUp = FlowTable.FLOWS_MAX - held;
        assertTrue(ended.subList(0, givenUp).stream().allMatch(FlowTableTest::saysNameUnread));
        assertTrue(ended.subList(givenUp, ended.size()).stream().noneMatch(FlowTableTest::saysNameUnread));
        assertEquals(0, table.helloBytes());
    }

    @Test
    void aFlowAfterManyHalfSentHellosStillHasItsName() {
        for (int i = 0; i < 1_000; i++) {
            out(Frames.tcp(true, i, 443, 1, 0, halfHello(8_000)));
        }
        byte[] hello = Frames.clientHello("api.example.org");
        out(Frames.tcp(true, 40001, 443, 1, 0, Arrays.copyOf(hello, 20)));
        out(Frames.tcp(true, 40001, 443, 21, 0, Arrays.copyOfRange(hello, 20, hello.length)));
        events.addAll(table.close(nowNs));
        Event.NetFlow last = flows("unfinished").getLast();
        assertEquals("api.example.org", String.valueOf(last.host()));
        assertFalse(saysNameUnread(last));
    }

    /// Its end may be cut off, as long as the name is there.
    @Test
    void aHelloThatIsGivenUpIsLookedThroughFirst() {
        byte[] begun = Arrays.copyOf(Frames.clientHello("api.example.org"), 4_000);
        begun[3] = 0x40;
        begun[7] = 0x3f;
        out(Frames.tcp(true, 40001, 443, 1, 0, begun));
        for (int i = 0; i < 1_000; i++) {
            out(Frames.tcp(true, i, 443, 1, 0, halfHello(8_000)));
        }
        events.addAll(table.close(nowNs));
        Event.NetFlow first = flows("unfinished").getFirst();
        assertEquals("api.example.org", String.valueOf(first.host()));
        assertFalse(saysNameUnread(first));
    }

    /// A client may cut its hello into records of any length, the message's header included, and send them in
    /// any pieces.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 40, 1_000})
    void aHelloInSeveralRecordsHasItsName(int each) {
        byte[] hello = Frames.inRecords(Frames.clientHello("api.example.org"), each);
        for (int at = 0; at < hello.length; at += 7) {
            byte[] piece = Arrays.copyOfRange(hello, at, Math.min(at + 7, hello.length));
            out(Frames.tcp(true, 40001, 443, 1 + at, 0, piece));
        }
        assertEquals(0, table.helloBytes());
        events.addAll(table.close(nowNs));
        Event.NetFlow flow = flows("unfinished").getFirst();
        assertEquals("api.example.org", String.valueOf(flow.host()));
        assertFalse(saysNameUnread(flow));
    }

    @Test
    void aHelloThatAnotherKindOfRecordInterruptsHasNone() {
        byte[] hello = Frames.inRecords(Frames.clientHello("api.example.org"), 40);
        hello[45] = 23;
        out(Frames.tcp(true, 40001, 443, 1, 0, hello));
        assertEquals(0, table.helloBytes());
        events.addAll(table.close(nowNs));
        assertNull(flows("unfinished").getFirst().host());
    }

    @Test
    void aHelloLongerThanWhatIsWaitedForSaysSoToo() {
        out(Frames.tcp(true, 40001, 443, 1, 0, halfHello(TlsServerName.HELLO_BYTES_MAX + 1)));
        events.addAll(table.close(nowNs));
        assertTrue(saysNameUnread(flows("unfinished").getFirst()));
    }

    @Test
    void aWholeRecordWithoutANameThatMuchFollowsLacksNothing() {
        byte[] hello = halfHello(TlsServerName.HELLO_BYTES_MAX + 1);
        hello[3] = 1; // 256 octets
        out(Frames.tcp(true, 40001, 443, 1, 0, hello));
        events.addAll(table.close(nowNs));
        assertFalse(saysNameUnread(flows("unfinished").getFirst()));
    }

    @Test
    void whateverEndsAFlowItsHelloIsNoLongerHeld() {
        out(Frames.tcp(true, 40001, 443, 1, 0, halfHello(1_000)));
        out(Frames.tcp(true, 40001, 443, 1_001, TcpHeader.RST, NONE));
        out(Frames.tcp(true, 40002, 443, 1, 0, halfHello(1_000)));
        assertEquals(2_000, table.helloBytes());
        out(Frames.tcp(true, 40001, 443, 1, TcpHeader.SYN, NONE)); // the same ports again
        assertEquals(1_000, table.helloBytes());
        nowNs += FlowTable.IDLE.toNanos() + 2 * SECOND_NS;
        in(Frames.udp(false, 1, 2, NONE));
        assertEquals(0, table.helloBytes());
        assertTrue(flows("idle").stream().noneMatch(FlowTableTest::saysNameUnread));
    }

    @Test
    void aDnsNameThatPointsAtItselfIsNoName() {
        byte[] message = Frames.dnsQuestion(1, "a.b", 1);
        message[12] = (byte) 0xc0;
        message[13] = 12;
        assertNull(DnsMessage.parse(message));
    }

    @Test
    void whatStandsBehindIpv6ExtensionHeadersIsAFlow() {
        // Hop-by-hop options and destination options before a datagram of one octet.
        String ports = "9c400035" + "0009" + "0000" + "2a";
        String frame = "00".repeat(12) + "86dd" + "60000000" + "0019" + "0040" + "fec0" + "00".repeat(13) + "15"
                + "20010db8" + "00".repeat(11) + "07" + "3c00050200000100" + "1100010400000000" + ports;
        out(HexFormat.of().parseHex(frame));
        events.addAll(table.close(nowNs));
        Event.NetFlow flow = flows("unfinished").getFirst();
        assertEquals("udp", flow.protocol());
        assertEquals(new Endpoint("2001:db8::7", 53), flow.remote());
        assertEquals(1, flow.bytesOut());
    }
}
