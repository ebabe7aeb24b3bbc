package blackbox.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.Http2Peer.Stream;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestNetwork;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Requests of HTTP/2 that wait, that lead elsewhere, and whose answers nobody takes.
class Http2WaitingTest {
    @TempDir
    Path folder;

    private Inspected inspected() throws Exception {
        return new Inspected(folder, Inspection.REQUESTS);
    }

    private static Http2Peer guest(Inspected it) throws Exception {
        return Http2Peer.client(it.tls(Inspected.NAME));
    }

    private static Http2Peer server(Inspected it) throws Exception {
        return Http2Peer.server(it.server(it.certificates.server(Inspected.NAME)));
    }

    /// More requests than the other side takes wait for one another, with their bodies; one that is left meanwhile is
    /// never sent, and those that still wait at its end may be sent again.
    @Test
    void whatIsLeftWhileItWaitsIsNotSent() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = Http2Peer.server(
                        it.server(it.certificates.server(Inspected.NAME)),
                        new Http2Settings().maxConcurrentStreams(1))) {
            Stream first = guest.get("/first"); // the server has said how many it takes by then
            server.accept().head(true, ":status", "204");
            first.awaitWhole();
            Stream holding = guest.get("/holding");
            Stream held = server.accept();
            Stream left = queued(it, guest, "/left");
            Stream waiting = queued(it, guest, "/waiting");
            Stream last = queued(it, guest, "/last");
            left.reset(Http2Error.CANCEL);
            assertEquals(How.BROKEN_BY_GUEST, it.exchanges(2).getLast().how());
            assertFalse(server.hasStreams());
            held.head(true, ":status", "204");
            holding.awaitWhole();
            Stream served = server.accept();
            assertTrue(served.awaitHead().contains(":path=/waiting"), served::toString);
            assertEquals("body", served.awaitWhole());
            server.goAway();
            assertEquals(Http2Error.REFUSED_STREAM, last.awaitReset());
            served.head(true, ":status", "204");
            waiting.awaitWhole();
            guest.awaitEnd();
            assertFalse(server.hasStreams());
        }
    }

    /// Bodies that wait would hold the window that the one under way needs to end.
    @Test
    void uploadsThatWaitLeaveRoomForTheOneUnderWay() throws Exception {
        try (var it = inspected();
                Http2Peer guest = guest(it);
                Http2Peer server = Http2Peer.server(
                        it.server(it.certificates.server(Inspected.NAME)),
                        new Http2Settings().maxConcurrentStreams(1).initialWindowSize(1 << 20))) {
            Stream first = guest.get("/first");
            server.accept().head(true, ":status", "204");
            first.awaitWhole();
            Stream upload = guest.request(
                    false, ":method", "POST", ":scheme", "https", ":authority", Inspected.NAME, ":path", "/upload");
            Stream served = server.accept();
            var waiting = new ArrayList<Stream>();
            for (int each = 0; each < 4; each++) {
                Stream more = guest.request(
                        false, ":method", "POST", ":scheme", "https", ":authority", Inspected.NAME, ":path", "/more");
                more.data(new byte[60_000], false);
                waiting.add(more);
            }
            for (Stream each : waiting.subList(2, 4)) {
                assertEquals(Http2Error.REFUSED_STREAM, each.awaitReset());
            }
            upload.data(new byte[1_000_000], true);
            assertEquals(1_000_000, served.awaitWhole().length());
            served.head(true, ":status", "204");
            upload.awaitWhole();
            for (Stream each : waiting.subList(0, 2)) {
                each.data("end", true);
                Stream next = server.accept();
                assertTrue(next.awaitWhole().endsWith("end"));
                next.head(true, ":status", "204");
                each.awaitWhole();
            }
        }
    }

    /// Asks for what must wait, and returns when it does.
    private static Stream queued(Inspected it, Http2Peer guest, String path) throws Exception {
        int decided = it.served.listener.decisions().size();
        Stream call = guest.request(
                false, ":method", "POST", ":scheme", "https", ":authority", Inspected.NAME, ":path", path);
        call.data("body", true);
        it.served.listener.await(
                "it was not decided", listener -> listener.decisions().size() > decided);
        return call;
    }

    /// What one connection is not for is refused before anything is said to be allowed, and goes over the next.
    @Test
    void whatLeadsElsewhereConnectsAnew() throws Exception {
        try (var it = new Inspected(
                        folder,
                        Inspection.REQUESTS,
                        head -> new RequestVerdict(
                                head.target().equals("/other")
                                        ? Verdict.allow("other", "rule other allows it")
                                                .via(new HostPort("192.0.2.9", 9))
                                        : Verdict.allow("this", "rule this allows it"),
                                head.target(),
                                403));
                Http2Peer guest = guest(it);
                Http2Peer server = server(it)) {
            Stream other = guest.get("/other");
            assertTrue(
                    other.awaitWhole().contains("rule other allows it, but to another upstream than this connection's"),
                    other::toString);
            assertTrue(other.head(0).startsWith(":status=421 "));
            Stream call = guest.get("/this");
            server.accept().head(true, ":status", "204");
            call.awaitWhole();
            assertFalse(server.hasStreams());
            assertEquals(
                    List.of("null DENY", "this ALLOW"),
                    it.served.listener.decisions().stream()
                            .filter(each -> each.what().startsWith("GET "))
                            .map(each -> each.rule() + " " + each.outcome())
                            .toList());
        }
    }

    /// Answers that are over at the server, and that the guest does not take, are not fetched one after another.
    @Test
    void wholeAnswersThatNobodyTakesAreNotFetched() throws Exception {
        try (var it = inspected();
                Http2Peer guest = Http2Peer.client(it.tls(Inspected.NAME), new Http2Settings().initialWindowSize(0));
                Http2Peer server = server(it)) {
            var calls = new ArrayList<Stream>();
            var answering = CompletableFuture.runAsync(() -> {
                try {
                    for (int each = 1; each <= 100; each++) { // one after another, so that each is over there
                        Stream served = server.accept();
                        served.head(false, ":status", "200");
                        served.data(new byte[100_000], true);
                        int whole = each;
                        it.served.listener.await(
                                "it was not fetched",
                                listener -> listener.exchanges().size() >= whole);
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            for (int each = 0; each < 100; each++) {
                calls.add(guest.get("/" + each));
            }
            // Until nothing moves: each turn lets the gateway's loop do what there is to do.
            int still = 0;
            for (int before = -1; still < 20_000; still++) {
                it.served.onLoop(GuestNetwork::bufferedOctets);
                int ended = it.served.listener.exchanges().size();
                still = ended == before ? still : 0;
                before = ended;
            }
            int ended = it.served.listener.exchanges().size();
            assertTrue(ended >= 5 && ended <= 10, "it fetched " + ended + " answers");
            guest.window(200_000);
            for (Stream call : calls) {
                assertEquals(100_000, call.awaitWhole().length());
            }
            answering.get();
        }
    }
}
