package blackbox.evidence.sides;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.Finding;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.event.FindingDetail.SidesDiffer;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Events of both sides of one network, in milliseconds from the run's beginning.
class ReconcilerTest {

    private static final Endpoint REMOTE = new Endpoint("198.18.3.4", 443);
    private static final Endpoint RESOLVER = new Endpoint("10.0.2.3", 53);
    private static final String HOST = "api.example";

    private final Reconciler sides = new Reconciler();
    private final List<SidesDiffer> found = new ArrayList<>();
    private final Row row = new Row();
    private final long[] numbers = new long[2];
    private long index;

    @BeforeEach
    void begin() {
        add(new Event.RunOpen(host(0), null, "{\"network\":\"gateway\"}"));
        add(new Event.TracerReady(host(0), "{\"attached\":[\"do_exit\",\"tcp_connect\"],\"failed\":[]}"));
        beat(0);
    }

    private long add(Event event) {
        EventRows.fill(event, row);
        found.addAll(sides.see(index, row));
        return index++;
    }

    private static EventHeader host(long ms) {
        return EventHeader.host(ms * 1_000_000);
    }

    private EventHeader guest(long ms, int cpu) {
        return new EventHeader(
                ms * 1_000_000, Source.GUEST, new GuestOrigin(cpu, ++numbers[cpu], Actor.AGENT), null, Marks.NONE);
    }

    private static Endpoint local(int port) {
        return new Endpoint("10.0.2.15", port);
    }

    /// The heartbeats of both of the guest's CPUs, and the host's.
    private void beat(long ms) {
        add(new Event.TracerHeartbeat(guest(ms, 0), null));
        add(new Event.TracerHeartbeat(guest(ms, 1), null));
        hostBeat(ms);
    }

    private void hostBeat(long ms) {
        add(new Event.VmLifecycle(host(ms), "TICK", null));
    }

    private long syn(long ms, int port) {
        return syn(ms, local(port), REMOTE);
    }

    private long syn(long ms, Endpoint local, Endpoint remote) {
        return add(new Event.NetSyn(guest(ms, 1), "tcp", local, remote, 7L, null));
    }

    private void closes(long ms, int port) {
        add(new Event.NetFlow(guest(ms, 0), "tcp", local(port), REMOTE, null, 5, 5, null, null, "closed"));
    }

    private long send(long ms, Endpoint local, Endpoint remote) {
        return add(new Event.NetCall(guest(ms, 1), Kind.NET_SEND, "udp", local, remote, null, 0));
    }

    private void asks(long ms, String name) {
        add(new Event.DnsQuery(guest(ms, 1), Text.of(name), 1, List.of(), "udp", local(5_000), RESOLVER));
    }

    private long decides(long ms, int port) {
        return decides(ms, "tcp", "connect", port, REMOTE, HOST, "");
    }

    private long decides(
            long ms, String protocol, String stage, int port, Endpoint remote, @Nullable String name, String more) {
        return add(new Event.EgressDecision(
                host(ms),
                "allow",
                protocol,
                local(port),
                remote,
                name == null ? null : Text.of(name),
                "{\"stage\":\"" + stage + "\"" + more + "}"));
    }

    private void frames(long ms, Endpoint local, Endpoint remote, String what) {
        add(new Event.NetFlow(host(ms), "tcp", local, remote, null, 0, 0, 1L, 0L, what));
    }

    private void finish() {
        found.addAll(sides.finish());
    }

    private SidesDiffer only() {
        assertEquals(1, found.size(), found::toString);
        return found.getFirst();
    }

    private void assertNone() {
        assertEquals(List.of(), found);
    }

    @Test
    void whatBothSidesToldIsNoFinding() {
        asks(10, HOST);
        send(11, new Endpoint("0.0.0.0", 5_000), RESOLVER);
        decides(12, "udp", "dns", 5_000, RESOLVER, HOST, ",\"asked\":\"A\"");
        decides(12, "udp", "dns", 5_000, RESOLVER, HOST, ",\"asked\":\"AAAA\"");
        syn(20, 40_000);
        decides(21, 40_000);
        decides(22, "tcp", "tls", 40_000, REMOTE, HOST, ",\"serverName\":\"API.example.\"");
        frames(23, local(40_000), REMOTE, "open");
        closes(30, 40_000);
        beat(20_000);
        finish();
        assertNone();
        assertEquals(new Reconciler.Agreed(1, 2), sides.agreed());
    }

    @Test
    void flowThatNoProcessBeganIsFound() {
        asks(10, HOST);
        long decision = decides(100, 40_000);
        beat(2_000);
        assertNone();
        beat(2_200);
        SidesDiffer differs = only();
        assertEquals(Finding.FLOW_WITHOUT_CONNECT, differs.finding());
        assertEquals("10.0.2.15:40000", differs.local());
        assertEquals("198.18.3.4:443", differs.remote());
        assertEquals(HOST, differs.host());
        assertEquals(decision, differs.hostEvent());
        assertNull(differs.guestEvent());
        assertNull(differs.unknown());
        finish();
        only();
    }

    @Test
    void flowIsJudgedOnlyOnceTheTracerHasReportedPastIt() {
        asks(10, HOST);
        decides(100, 40_000);
        hostBeat(9_000);
        add(new Event.TracerHeartbeat(guest(5_000, 0), null)); // the other CPU's may still come
        assertNone();
        syn(99, 40_000);
        beat(9_100);
        finish();
        assertNone();
    }

    @Test
    void hostMayTellFirst() {
        asks(10, HOST);
        decides(100, 40_000);
        frames(101, local(40_000), REMOTE, "open");
        syn(99, 40_000);
        beat(20_000);
        finish();
        assertNone();
    }

    @Test
    void connectionOfWhichNothingLeftIsFound() {
        long syn = syn(100, 40_000);
        beat(9_900);
        assertNone();
        beat(10_200);
        SidesDiffer differs = only();
        assertEquals(Finding.CONNECT_WITHOUT_FLOW, differs.finding());
        assertEquals(syn, differs.guestEvent());
        assertNull(differs.hostEvent());
        assertNull(differs.unknown());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void framesOfConnectionThatTheGatewayDidNotDecideOnAreEnough(boolean framesFirst) {
        if (framesFirst) {
            frames(90, local(40_000), REMOTE, "open");
        }
        syn(100, 40_000);
        if (!framesFirst) {
            frames(110, local(40_000), REMOTE, "open");
        }
        beat(20_000);
        finish();
        assertNone();
    }

    @Test
    void whatStaysInTheGuestIsNotJudged() {
        syn(10, new Endpoint("127.0.0.1", 40_000), new Endpoint("127.0.0.1", 80));
        syn(10, local(40_000), local(80));
        syn(10, new Endpoint("10.0.2.100", 40_000), REMOTE); // a container's network
        beat(20_000);
        finish();
        assertNone();
    }

    @Test
    void secondFlowWithTheSameEndsNeedsItsOwnBeginning() {
        asks(1, HOST);
        syn(10, 40_000);
        decides(11, 40_000);
        closes(20, 40_000);
        syn(30, 40_000);
        decides(31, 40_000);
        closes(40, 40_000);
        beat(5_000);
        assertNone();
        long forged = decides(5_001, 40_000);
        beat(9_000);
        assertEquals(forged, only().hostEvent());
        assertEquals(Finding.FLOW_WITHOUT_CONNECT, only().finding());
    }

    @Test
    void firstSegmentThatIsSentAgainIsTheSameConnection() {
        asks(1, HOST);
        syn(10, 40_000);
        decides(11, 40_000);
        decides(1_011, 40_000); // the gateway had dropped it, the kernel sends it again
        beat(9_000);
        finish();
        assertNone();
    }

    /// A thousand times the work of one: each segment that the host sees would otherwise look at all of them.
    @Test
    void ofManyWithTheSameEndsOnlyTheLatestWait() {
        for (int each = 0; each < 100_000; each++) {
            syn(20, 40_000);
            closes(20, 40_000);
            frames(20, local(40_000), REMOTE, "open");
        }
        long forgotten = sides.count(Finding.CONNECT_WITHOUT_FLOW);
        for (int each = 0; each < 20; each++) {
            decides(30, 40_000);
        }
        beat(30_000);
        assertEquals(0, forgotten, "the host has seen frames of each");
        assertEquals(16, sides.agreed().connections());
        assertEquals(4, sides.count(Finding.FLOW_WITHOUT_CONNECT));
    }

    @Test
    void connectionThatIsClosedBeforeTheHostTellsIsNoLongerOpen() {
        asks(1, HOST);
        syn(10, 40_000);
        closes(12, 40_000);
        decides(13, 40_000);
        decides(14, 40_000);
        beat(9_000);
        assertEquals(Finding.FLOW_WITHOUT_CONNECT, only().finding());
    }

    @Test
    void datagramsThatNoProcessSentAreFound() {
        var peer = new Endpoint("192.0.2.1", 123);
        send(10, new Endpoint("::", 6_000), peer);
        decides(11, "udp", "connect", 6_000, peer, null, "");
        decides(70_000, "udp", "connect", 6_000, peer, null, ""); // after a pause
        long forged = decides(70_001, "udp", "connect", 6_001, peer, null, "");
        beat(80_000);
        assertEquals(forged, only().hostEvent());
        assertEquals("udp", only().protocol());
    }

    @Test
    void datagramsOfFullTracerAreToldAsFlows() {
        var peer = new Endpoint("192.0.2.1", 123);
        decides(11, "udp", "connect", 6_000, peer, null, "");
        add(new Event.NetFlow(guest(10, 0), "udp", local(6_000), peer, null, 12, 0, 1L, 0L, "unfinished"));
        beat(9_000);
        assertNone();
    }

    @Test
    void questionThatNoProcessSentIsFound() {
        decides(10, "udp", "dns", 5_000, RESOLVER, HOST, ",\"asked\":\"A\"");
        beat(9_000);
        assertEquals(Finding.FLOW_WITHOUT_CONNECT, only().finding());
        assertEquals("10.0.2.3:53", only().remote());
    }

    @Test
    void addressOfNameThatNobodyAskedForIsFound() {
        long syn = syn(10, 40_000);
        long decision = decides(11, 40_000);
        SidesDiffer differs = only();
        assertEquals(Finding.NAME_NOT_ASKED, differs.finding());
        assertEquals(HOST, differs.host());
        assertEquals(syn, differs.guestEvent());
        assertEquals(decision, differs.hostEvent());
        assertNull(differs.unknown());
    }

    @Test
    void addressThatStandsForNoNameIsFound() {
        syn(10, 40_000);
        decides(11, "tcp", "connect", 40_000, new Endpoint("198.19.200.200", 80), null, "");
        syn(12, local(40_001), new Endpoint("192.0.2.1", 80));
        decides(13, "tcp", "connect", 40_001, new Endpoint("192.0.2.1", 80), null, ""); // no name's address
        beat(9_000);
        assertEquals(
                List.of(Finding.FLOW_WITHOUT_CONNECT, Finding.NAME_NOT_ASKED),
                found.stream().map(SidesDiffer::finding).toList());
    }

    @Test
    void nameThatWasAskedForOverTcpWasAskedFor() {
        syn(5, local(39_000), RESOLVER);
        decides(6, "tcp", "dns", 39_000, RESOLVER, HOST, ",\"asked\":\"A\"");
        decides(7, "tcp", "dns", 39_000, RESOLVER, HOST, ",\"asked\":\"AAAA\"");
        syn(10, 40_000);
        decides(11, 40_000);
        beat(20_000);
        finish();
        assertNone();
    }

    @Test
    void nameOfQuestionThatCouldNotBeReadMayHaveBeenAskedFor() {
        add(new Event.RecorderFinding(guest(1, 0), new FindingDetail.DnsUnreadable()));
        syn(10, 40_000);
        decides(11, 40_000);
        assertEquals("DNS_UNREADABLE", only().unknown());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void otherServerNameThanTheAddressIsFound(boolean guestFirst) {
        asks(1, HOST);
        long syn = guestFirst ? syn(10, 40_000) : -1;
        decides(11, 40_000);
        long tls = decides(12, "tcp", "tls", 40_000, REMOTE, HOST, ",\"serverName\":\"other.example\"");
        syn = guestFirst ? syn : syn(10, 40_000);
        SidesDiffer differs = only();
        assertEquals(Finding.SNI_NOT_ADDRESS, differs.finding());
        assertEquals("other.example", differs.said());
        assertEquals(HOST, differs.host());
        assertEquals(tls, differs.hostEvent());
        assertEquals(syn, differs.guestEvent());
    }

    @Test
    void helloWithoutNameIsNoFinding() {
        asks(1, HOST);
        syn(10, 40_000);
        decides(11, 40_000);
        decides(12, "tcp", "tls", 40_000, REMOTE, HOST, ",\"serverName\":null");
        beat(9_000);
        assertNone();
    }

    @Test
    void forgedSourceIsFound() {
        frames(10, new Endpoint("10.0.2.99", 40_000), REMOTE, "open");
        frames(10, new Endpoint("0.0.0.0", 68), new Endpoint("255.255.255.255", 67), "open");
        frames(10, new Endpoint("fe80::1", 0), new Endpoint("ff02::2", 0), "open");
        frames(20, new Endpoint("10.0.2.99", 40_000), REMOTE, "reset");
        assertEquals(Finding.SOURCE_FORGED, only().finding());
        assertEquals("10.0.2.99:40000", only().local());
    }

    @Test
    void whileNumbersAreMissingTheAnswerIsUnknown() {
        asks(1, HOST);
        decides(100, 40_000);
        numbers[1]++; // the frame that may have told of it
        beat(3_000);
        assertEquals("LOSS_OPEN", only().unknown());
        add(new Event.RecorderLoss(host(3_100), 1, "sequence", "{\"cpu\":1,\"from\":3,\"to\":3}"));
        decides(3_500, 40_001);
        decides(5_000, 40_002); // long after it
        beat(9_000);
        assertEquals("LOSS_DECLARED", found.get(1).unknown());
        assertNull(found.get(2).unknown());
    }

    @Test
    void numberThatComesLateIsNotMissing() {
        asks(1, HOST);
        decides(100, 40_000);
        long late = ++numbers[1];
        beat(1_000);
        add(new Event.TracerHeartbeat(
                new EventHeader(1, Source.GUEST, new GuestOrigin(1, late, Actor.AGENT), null, Marks.NONE), null));
        beat(3_000);
        assertNull(only().unknown());
    }

    @Test
    void afterStreamThatMayBeForgedTheAnswerIsUnknown() {
        add(new Event.RecorderFinding(host(1), new FindingDetail.SequenceRepeated(0, 1)));
        asks(1, HOST);
        decides(100, 40_000);
        beat(9_000);
        assertEquals("SEQUENCE_REPEATED", only().unknown());
    }

    @Test
    void whileTheTracerIsSilentTheAnswerIsUnknown() {
        asks(1, HOST);
        decides(100, 40_000);
        add(new Event.RecorderFinding(host(5_000), new FindingDetail.GuestSilent(1)));
        hostBeat(9_000);
        assertNone(); // it may come back and tell
        finish();
        assertEquals("GUEST_SILENT", only().unknown());
    }

    @Test
    void atTheEndAllIsJudged() {
        asks(1, HOST);
        decides(100, 40_000);
        beat(150);
        decides(200, 40_001); // the tracer did not report so far
        syn(201, 40_002); // its first segment may not have left
        finish();
        assertEquals(
                List.of(Finding.FLOW_WITHOUT_CONNECT, Finding.FLOW_WITHOUT_CONNECT, Finding.CONNECT_WITHOUT_FLOW),
                found.stream().map(SidesDiffer::finding).toList());
        assertNull(found.get(0).unknown());
        assertEquals("TRACER_UNFINISHED", found.get(1).unknown());
        assertEquals("RUN_ENDED", found.get(2).unknown());
    }

    @Test
    void runsThatCannotBeComparedAreNot() {
        var other = new Reconciler();
        var noGateway = new Event.RunOpen(host(0), null, "{\"network\":\"user\"}");
        EventRows.fill(noGateway, row);
        other.see(0, row);
        EventRows.fill(
                new Event.TracerReady(
                        host(0), "{\"attached\":[],\"failed\":[{\"probe\":\"kfunc__tcp_connect at tcp_connect\"}]}"),
                row);
        other.see(1, row);
        EventRows.fill(new Event.RunOpen(host(0), null, "{\"network\":\"gateway\"}"), row);
        other.see(2, row);
        assertTrue(!other.compares());
        assertTrue(sides.compares());
    }

    @Test
    void hundredThousandFlowsTakeBoundedRoomAndOnlySomeAreTold() {
        asks(1, HOST);
        for (int i = 0; i < 100_000; i++) {
            decides(100, "tcp", "connect", 1_000 + i % 60_000, new Endpoint("198.18.3." + i / 60_000, 80), HOST, "");
        }
        beat(9_000);
        finish();
        assertEquals(100_000, sides.count(Finding.FLOW_WITHOUT_CONNECT));
        assertEquals(1_000 + 7, found.size()); // 1,024, 2,048, … 65,536
        assertEquals("FORGOTTEN", found.getFirst().unknown());
        assertEquals(65_536, found.getLast().count());
    }

    @Test
    void hundredThousandHonestConnectionsAgree() {
        asks(1, HOST);
        syn(2, local(999), REMOTE); // which waits all the time, and holds nothing back
        for (int i = 0; i < 100_000; i++) {
            int port = 1_000 + i % 60_000;
            syn(100 + i / 20, port);
            decides(100 + i / 20, port);
            closes(100 + i / 20, port);
        }
        assertNone();
        assertEquals(100_000, sides.agreed().connections());
    }
}
