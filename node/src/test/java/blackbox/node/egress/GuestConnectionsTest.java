package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowWitness.Begun;
import blackbox.gateway.egress.FlowWitness.FirstSegment;
import blackbox.gateway.egress.Protocol;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GuestConnectionsTest {

    private static final long FIRST = 0xfedcba98L;
    private static final Duration LONG = Duration.ofMinutes(10);

    private final List<Event> recorded = new ArrayList<>();
    private final GuestConnections connections = new GuestConnections(LONG, true);
    private final EventSink sink = connections.before(recorded::add);

    private static EventHeader header() {
        return new EventHeader(1, Source.GUEST, new GuestOrigin(0, 1, Actor.AGENT), null, Marks.NONE);
    }

    private static Flow flow(int port) {
        return new Flow(Protocol.TCP, new Endpoint("10.0.2.15", port), new Endpoint("198.18.3.4", 443));
    }

    private void begins(String local, int port, String remote) throws Exception {
        begins(header(), local, port, remote, FIRST, "/usr/bin/git");
    }

    private void begins(EventHeader by, String local, int port, String remote, long sequence, String exe)
            throws Exception {
        sink.accept(new Event.NetSyn(
                by, "tcp", new Endpoint(local, port), new Endpoint(remote, 443), sequence, Text.of(exe)));
    }

    private void closes(int port) throws Exception {
        Flow flow = flow(port);
        sink.accept(new Event.NetFlow(header(), "tcp", flow.guest(), flow.remote(), null, 0, 0, null, null, "closed"));
    }

    private static CompletableFuture<Boolean> asked(GuestConnections of, int port) {
        return of.begun(new FirstSegment(flow(port), FIRST))
                .thenApply(Optional::isPresent)
                .toCompletableFuture();
    }

    private String program(int port, long sequence) {
        Optional<Begun> waits = Optional.of(new Begun("waits"));
        return String.valueOf(connections
                .begun(new FirstSegment(flow(port), sequence))
                .toCompletableFuture()
                .getNow(waits)
                .orElseThrow()
                .exe());
    }

    @Test
    void whatWasToldBeforeIsKnownUntilTheGuestClosesIt() throws Exception {
        begins("10.0.2.15", 40_000, "198.18.3.4");
        assertTrue(asked(connections, 40_000).getNow(false));
        assertTrue(asked(connections, 40_000).getNow(false), "a first segment may come again");
        assertFalse(asked(connections, 40_001).isDone());
        closes(40_000);
        assertFalse(asked(connections, 40_000).isDone());
    }

    @Test
    void whoAsksFirstHearsOnceItWasHandedToTheRecorder() throws Exception {
        CompletableFuture<Boolean> first = asked(connections, 40_000);
        CompletableFuture<Integer> had = first.thenApply(_ -> recorded.size());
        begins("::ffff:10.0.2.15", 40_000, "::ffff:198.18.3.4");
        assertTrue(first.getNow(false));
        assertEquals(1, had.getNow(0));
        assertEquals(0, connections.waiting());
    }

    /// A guest that resets each connection before it is answered leaves nothing behind.
    @Test
    void whoConnectsAgainHasGivenUpTheOneBefore() throws Exception {
        CompletableFuture<Boolean> first = asked(connections, 40_000);
        CompletableFuture<Boolean> second = asked(connections, 40_000);
        assertFalse(first.getNow(true));
        assertEquals(1, connections.waiting());
        begins("10.0.2.15", 40_000, "198.18.3.4");
        assertTrue(second.getNow(false));
        assertEquals(0, connections.waiting());
    }

    @Test
    void otherEndsAndTheHostsOwnEventsConfirmNothing() throws Exception {
        CompletableFuture<Boolean> asked = asked(connections, 40_000);
        begins("10.0.2.100", 40_000, "198.18.3.4");
        begins("10.0.2.15", 40_000, "198.18.3.5");
        begins("10.0.2.15", 40_001, "198.18.3.4");
        Flow flow = flow(40_000);
        sink.accept(new Event.NetSyn(EventHeader.host(1), "tcp", flow.guest(), flow.remote(), FIRST, null));
        sink.accept(new Event.NetSyn(header(), "tcp", flow.guest(), flow.remote(), null, null));
        sink.accept(new Event.NetCall(header(), Kind.NET_CONNECT, "tcp", flow.guest(), flow.remote(), null, 0));
        assertFalse(asked.isDone());
    }

    @Test
    void afterItsTimeTheAnswerIsNo() throws Exception {
        var brief = new GuestConnections(Duration.ofMillis(1), true);
        assertFalse(asked(brief, 40_000).get(1, TimeUnit.MINUTES));
        assertEquals(0, brief.waiting());
    }

    @Test
    void atTheEndOfTheRunTheAnswerIsNo() {
        CompletableFuture<Boolean> asked = asked(connections, 40_000);
        connections.giveUp();
        assertFalse(asked.getNow(true));
        assertEquals(0, connections.waiting());
    }

    @Test
    void aConnectionIsThatOfItsOwnFirstSegment() throws Exception {
        begins("10.0.2.15", 40_000, "198.18.3.4");
        assertEquals("/usr/bin/git", program(40_000, FIRST));
        assertEquals("/usr/bin/git", program(40_000, FIRST), "it may come again");
        // Its socket is closed, which is not told yet, and another process's has the same ends.
        CompletableFuture<Optional<Begun>> other =
                connections.begun(new FirstSegment(flow(40_000), FIRST + 1)).toCompletableFuture();
        assertFalse(other.isDone());
        begins(header(), "10.0.2.15", 40_000, "198.18.3.4", FIRST + 1, "/usr/bin/python3.11");
        assertEquals("/usr/bin/python3.11", other.join().orElseThrow().exe());
    }

    /// The process that was to be told of has been killed, and another one connects in its place meanwhile.
    @Test
    void whatIsToldOfOneAnswersNobodyElse() throws Exception {
        CompletableFuture<Boolean> first = asked(connections, 40_000);
        CompletableFuture<Optional<Begun>> other =
                connections.begun(new FirstSegment(flow(40_000), FIRST + 1)).toCompletableFuture();
        assertFalse(first.getNow(true));
        begins("10.0.2.15", 40_000, "198.18.3.4");
        assertFalse(other.isDone());
        assertEquals(1, connections.waiting());
        begins(header(), "10.0.2.15", 40_000, "198.18.3.4", FIRST + 1, "/usr/bin/python3.11");
        assertEquals("/usr/bin/python3.11", other.join().orElseThrow().exe());
    }

    @Test
    void pathThatIsNotWholeIsNoProgram() throws Exception {
        var cut = new Marks(Map.of("exe", 5_000L), List.of());
        var origin = new GuestOrigin(0, 1, Actor.AGENT);
        var by = new EventHeader(1, Source.GUEST, origin, null, cut);
        begins(by, "10.0.2.15", 40_000, "198.18.3.4", FIRST, "/usr/bin/git");
        assertEquals("null", program(40_000, FIRST));
        begins(header(), "10.0.2.15", 40_001, "198.18.3.4", FIRST, "tmpfs[0:45]/usr/bin/git");
        assertEquals("null", program(40_001, FIRST));
        sink.accept(new Event.NetSyn(
                header(), "tcp", flow(40_002).guest(), flow(40_002).remote(), FIRST, null));
        assertEquals("null", program(40_002, FIRST));
    }

    @Test
    void floodTakesBoundedRoom() throws Exception {
        CompletableFuture<Boolean> first = asked(connections, 1);
        for (int port = 2; port < 60_000; port++) {
            assertFalse(asked(connections, port).isDone());
        }
        assertEquals(GuestConnections.WAITING_MAX, connections.waiting());
        assertFalse(first.getNow(true));
        CompletableFuture<Boolean> last = asked(connections, 60_000);
        begins("10.0.2.15", 60_000, "198.18.3.4");
        assertTrue(last.getNow(false));
    }
}
