package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.egress.Flow;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GuestConnectionsTest {

    private static final Duration LONG = Duration.ofMinutes(10);

    private final List<Event> recorded = new ArrayList<>();
    private final GuestConnections connections = new GuestConnections(LONG);
    private final EventSink sink = connections.before(recorded::add);

    private static EventHeader header() {
        return new EventHeader(1, Source.GUEST, new GuestOrigin(0, 1, Actor.AGENT), null, Marks.NONE);
    }

    private static Flow flow(int port) {
        return new Flow(Protocol.TCP, new Endpoint("10.0.2.15", port), new Endpoint("198.18.3.4", 443));
    }

    private void begins(String local, int port, String remote) throws Exception {
        sink.accept(new Event.NetCall(
                header(), Kind.NET_SYN, "tcp", new Endpoint(local, port), new Endpoint(remote, 443), null, 0));
    }

    private void closes(int port) throws Exception {
        Flow flow = flow(port);
        sink.accept(new Event.NetFlow(header(), "tcp", flow.guest(), flow.remote(), null, 0, 0, null, null, "closed"));
    }

    private static CompletableFuture<Boolean> asked(GuestConnections of, int port) {
        return of.began(flow(port)).toCompletableFuture();
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
        sink.accept(new Event.NetCall(EventHeader.host(1), Kind.NET_SYN, "tcp", flow.guest(), flow.remote(), null, 0));
        sink.accept(new Event.NetCall(header(), Kind.NET_CONNECT, "tcp", flow.guest(), flow.remote(), null, 0));
        assertFalse(asked.isDone());
    }

    @Test
    void afterItsTimeTheAnswerIsNo() throws Exception {
        var brief = new GuestConnections(Duration.ofMillis(1));
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
