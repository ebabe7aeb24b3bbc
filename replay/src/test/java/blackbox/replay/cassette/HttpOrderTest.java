package blackbox.replay.cassette;

import static blackbox.replay.cassette.HttpCassetteTest.SERVER;
import static blackbox.replay.cassette.HttpCassetteTest.answers;
import static blackbox.replay.cassette.HttpCassetteTest.asks;
import static blackbox.replay.cassette.HttpCassetteTest.assertHeard;
import static blackbox.replay.cassette.HttpCassetteTest.get;
import static blackbox.replay.cassette.HttpCassetteTest.ok;
import static blackbox.replay.cassette.HttpCassetteTest.post;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.gateway.packet.TcpSegment;
import blackbox.replay.cassette.Recording.Said;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.request.DrawnIds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// In which order requests of plain HTTP/1.1 are answered on other connections than the recorded ones.
class HttpOrderTest {
    private static final String EARLY = "the recorded run asked it only after others that were not answered here yet";

    private final Random random = new Random(1);
    private int port = 50_000;

    /// A recording of connections that are open at the same time, each request answered before anything else is said.
    private Recording recorded(Said... exchanges) {
        var recording = new Recording(random);
        recording.openTogether(80, List.of(exchanges));
        return recording;
    }

    private static Said on(int connection, Turn turn) {
        return new Said(connection, turn);
    }

    private TestGuest.Connection says(TestGuest guest, Turn... turns) {
        TestGuest.Connection connection = guest.open(port++, 80, List.of(turns));
        guest.settle();
        return connection;
    }

    /// That only the first of these requests is missed, over connections of their own.
    private void assertMissed(Recording recording, Turn... turns) throws Exception {
        var guest = new TestGuest(recording.cassette(), random, 0);
        TestGuest.Connection last = null;
        for (int i = 0; i < turns.length; i += 2) {
            assertEquals(List.of(), guest.misses);
            last = says(guest, turns[i], turns[i + 1]);
        }
        assertNotNull(last);
        assertHeard(last);
        assertEquals(List.of(EARLY), guest.misses.stream().map(Miss::why).toList());
        assertEquals(List.of(), guest.peer().played().moved());
    }

    /// That these are answered in this order, each over a connection of its own.
    private void assertAnswered(Recording recording, Turn... turns) throws Exception {
        var guest = new TestGuest(recording.cassette(), random, 0);
        for (int i = 0; i < turns.length; i += 2) {
            assertHeard(says(guest, turns[i], turns[i + 1]), turns[i + 1]);
        }
        assertEquals(List.of(), guest.misses);
    }

    /// Not in the one of the connection that happens to carry them.
    @Test
    void equalRequestsAreAnsweredInTheRecordedOrder() throws Exception {
        for (Turn request : List.of(post("/x", "x"), get("/x"))) {
            Recording recording = recorded(
                    on(0, get("/a")),
                    on(0, ok("A")),
                    on(1, get("/b")),
                    on(1, ok("B")),
                    on(1, request),
                    on(1, ok("pending")),
                    on(0, request),
                    on(0, ok("done")));
            var guest = new TestGuest(recording.cassette(), random, 0);
            TestGuest.Connection all =
                    says(guest, get("/b"), ok("B"), get("/a"), ok("A"), request, ok("pending"), request, ok("done"));
            assertHeard(all, ok("B"), ok("A"), ok("pending"), ok("done"));
            assertEquals(List.of(), guest.misses);
        }
    }

    @Test
    void anEqualRequestDoesNotTakeALaterAnswer() throws Exception {
        var recording = new Recording(random);
        recording.openConnection(40_000, 80, List.of(get("/a"), ok("A"), get("/s"), ok("pending")));
        recording.openConnection(40_001, 80, List.of(get("/s"), ok("done")));
        assertMissed(recording, get("/s"), ok("done"));
    }

    /// Equal as far as their first octets go.
    @Test
    void longRequestsAreEqualOctetForOctet() throws Exception {
        String same = "x".repeat(400);
        Recording recording = recorded(
                on(0, get("/a")),
                on(1, post("/p", same + "1")),
                on(2, post("/p", same + "2")),
                on(3, post("/p", same + "1")),
                on(0, ok("A")),
                on(1, ok("1")),
                on(2, ok("2")),
                on(3, ok("3")));
        assertAnswered(
                recording,
                post("/p", same + "2"),
                ok("2"),
                post("/p", same + "1"),
                ok("1"),
                post("/p", same + "1"),
                ok("3"),
                get("/a"),
                ok("A"));
    }

    @Test
    void whatChangesSomethingKeepsItsPlaceAmongAllConnections() throws Exception {
        Recording grant =
                recorded(on(0, post("/grant", "a")), on(0, ok("G")), on(1, post("/pay", "b")), on(1, ok("P")));
        assertMissed(grant, post("/pay", "b"), ok("P"));
        assertAnswered(grant, post("/grant", "a"), ok("G"), post("/pay", "b"), ok("P"));
        Recording secret = recorded(on(0, post("/grant", "a")), on(0, ok("G")), on(1, get("/secret")), on(1, ok("S")));
        assertMissed(secret, get("/secret"), ok("S"));
        Recording before = recorded(on(0, get("/secret")), on(0, ok("S")), on(1, post("/grant", "a")), on(1, ok("G")));
        assertMissed(before, post("/grant", "a"), ok("G"));
        Recording three = recorded(
                on(0, post("/1", "1")),
                on(0, ok("1")),
                on(1, post("/2", "2")),
                on(1, ok("2")),
                on(0, post("/3", "3")),
                on(0, ok("3")));
        assertMissed(three, post("/1", "1"), ok("1"), post("/3", "3"), ok("3"));
    }

    /// Whoever sends the first one without an answer to the second one does not depend on it.
    @Test
    void whatRacesWaitsForItsTurn() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            var said = new ArrayList<Said>();
            var ports = new ArrayList<Integer>();
            for (int i = 0; i < 8; i++) {
                said.add(on(i, post("/" + i, "b")));
                said.add(on(i, ok("A" + i)));
                ports.add(i);
            }
            Collections.shuffle(ports, new Random(seed));
            var guest = new TestGuest(recorded(said.toArray(Said[]::new)).cassette(), random, 0);
            var connections = new TestGuest.Connection[8];
            for (int each : ports) {
                connections[each] = guest.open(port++, 80, List.of(post("/" + each, "b"), ok("A" + each)));
            }
            guest.settle();
            assertEquals(List.of(), guest.misses, "seed " + seed);
            for (int i = 0; i < 8; i++) {
                assertHeard(connections[i], ok("A" + i));
            }
        }
    }

    /// Not even if another one comes: all of those before it must.
    @Test
    void whatComesBeforeOneThatIsNeverAskedIsMissed() throws Exception {
        Recording three = recorded(
                on(0, post("/1", "1")),
                on(0, ok("1")),
                on(1, post("/2", "2")),
                on(1, ok("2")),
                on(2, post("/3", "3")),
                on(2, ok("3")));
        var guest = new TestGuest(three.cassette(), random, 0);
        TestGuest.Connection third = guest.open(port++, 80, List.of(post("/3", "3"), ok("3")));
        TestGuest.Connection first = guest.open(port++, 80, List.of(post("/1", "1"), ok("1")));
        guest.settle();
        assertHeard(first, ok("1"));
        assertHeard(third);
        assertEquals(List.of(EARLY), guest.misses.stream().map(Miss::why).toList());
    }

    @Test
    void whatWasUnderwayAtTheSameTimeMayComeInAnyOrder() throws Exception {
        Recording both = recorded(on(0, post("/p", "p")), on(1, post("/q", "q")), on(0, ok("P")), on(1, ok("Q")));
        assertAnswered(both, post("/q", "q"), ok("Q"), post("/p", "p"), ok("P"));
        Recording pool = recorded(
                on(0, get("/a")),
                on(1, get("/b")),
                on(0, ok("A")),
                on(1, ok("B")),
                on(0, get("/c")),
                on(0, ok("C")),
                on(1, get("/d")),
                on(1, ok("D")));
        assertAnswered(pool, get("/d"), ok("D"), get("/c"), ok("C"), get("/b"), ok("B"), get("/a"), ok("A"));
    }

    /// A safe request of the same recorded connection does not overtake one that changes something.
    @Test
    void nothingPassesWhatChangesSomething() throws Exception {
        Recording recording = recorded(
                on(0, get("/a0")),
                on(0, ok("A0")),
                on(0, get("/a1")),
                on(0, ok("A1")),
                on(1, post("/b", "b")),
                on(1, ok("B")),
                on(0, get("/a2")),
                on(0, ok("A2")));
        var guest = new TestGuest(recording.cassette(), random, 0);
        TestGuest.Connection one = says(guest, post("/b", "b"), ok("B"), get("/a2"), ok("A2"), get("/a0"), ok("A0"));
        assertHeard(one);
        assertEquals(1, guest.misses.size());
    }

    /// All of the answer, and not just the request: but an acknowledgement may be late.
    @Test
    void theNextRequestWaitsUntilTheAnswerWasSent() throws Exception {
        for (List<Turn> requests : List.of(List.of(get("/a"), get("/b")), List.of(post("/a", "a"), post("/b", "b")))) {
            Turn a = requests.getFirst();
            Turn b = requests.getLast();
            var recording = new Recording(random);
            recording.openConnection(40_000, 80, List.of(a, ok("A"), b, ok("B")));
            HttpShelf shelf = HttpShelf.of(SERVER, recording.cassette().connections(SERVER), new DrawnIds());
            assertNotNull(shelf);
            var first = new HttpClaim(shelf);
            assertNull(first.take(a.octets()));
            var second = new HttpClaim(shelf);
            assertNull(second.take(b.octets()));
            for (long at = 0; at < first.released(); ) {
                assertNull(second.resume());
                assertEquals(0, second.released());
                at += first.read(at, 10).length;
            }
            assertNull(second.resume());
            assertEquals(ok("B").octets().length, second.released());
            assertNotNull(first.take(b.octets()), "this connection shows that it has not arrived");
        }
    }

    /// When its answer ended is not known, so it is waited for only until it is asked.
    @Test
    void anAnswerThatWasNotRecordedWhole() throws Exception {
        Turn half = answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        Recording recording = recorded(on(0, post("/a", "a")), on(0, half), on(1, post("/b", "b")), on(1, ok("B")));
        assertMissed(recording, post("/b", "b"), ok("B"));
        assertAnswered(recording, post("/a", "a"), half, post("/b", "b"), ok("B"));
    }

    /// Who stops reading what changes nothing may go on elsewhere; who does not wait for what changes something, not.
    @Test
    void anAnswerThatIsGivenUp() throws Exception {
        String large = "A".repeat(200_000);
        for (Turn request : List.of(get("/a"), post("/a", "a"))) {
            Recording recording = recorded(on(0, request), on(0, ok(large)), on(1, post("/b", "b")), on(1, ok("B")));
            var guest = new TestGuest(recording.cassette(), random, 0);
            TestGuest.Connection first = guest.open(port++, 80, List.of(request, ok(large)));
            while (first.heard.size() == 0) {
                guest.settleSome(1);
            }
            first.abort();
            says(guest, post("/b", "b"), ok("B"));
            boolean safe = new String(request.octets(), US_ASCII).startsWith("GET");
            assertEquals(safe ? 0 : 1, guest.misses.size());
            assertEquals(List.of(), guest.peer().played().moved());
        }
    }

    /// A connection of single segments, of which one may say less than it should.
    private final class Segments {
        private final Recording recording = new Recording(random);
        private int guestSeq = 101;
        private int remoteSeq = 501;

        Segments() {
            recording.tcp(true, 40_000, 80, 100, 0, TcpSegment.SYN, new byte[0]);
            recording.tcp(false, 40_000, 80, 500, 101, TcpSegment.SYN | TcpSegment.ACK, new byte[0]);
        }

        /// @param unseen how many of the guest's last octets the remote side has not seen
        Segments say(Turn turn, int unseen) {
            recording.tcp(
                    turn.guest(),
                    40_000,
                    80,
                    turn.guest() ? guestSeq : remoteSeq,
                    turn.guest() ? remoteSeq : guestSeq - unseen,
                    TcpSegment.ACK,
                    turn.octets());
            guestSeq += turn.guest() ? turn.octets().length : 0;
            remoteSeq += turn.guest() ? 0 : turn.octets().length;
            return this;
        }

        RecordedConnection connection() throws Exception {
            return recording.cassette().connections(SERVER).getFirst();
        }
    }

    @Test
    void aConnectionWithAGapIsNotTakenApart() throws Exception {
        var whole = new Segments().say(get("/a"), 0).say(ok("A"), 0);
        assertNotNull(HttpShelf.of(SERVER, List.of(whole.connection()), new DrawnIds()));
        for (Turn early : List.of(get("/c"), ok("C"))) {
            var gap = new Segments().say(get("/a"), 0).say(ok("A"), 0);
            gap.guestSeq += early.guest() ? 1 : 0;
            gap.remoteSeq += early.guest() ? 0 : 1;
            gap.say(early, 0);
            assertNull(HttpShelf.of(SERVER, List.of(gap.connection()), new DrawnIds()));
            assertNull(HttpShelf.of(SERVER, List.of(whole.connection(), gap.connection()), new DrawnIds()));
        }
    }

    /// The answer's end was underway when the guest asked again.
    @Test
    void aRequestBeforeTheAnswersEndIsOnePiece() throws Exception {
        Turn head = answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        Turn next = get("/b");
        var early = new Segments()
                .say(get("/a"), 0)
                .say(head, 0)
                .say(next, 0)
                .say(answers("AB"), next.octets().length)
                .say(ok("B"), 0);
        assertNull(HttpExchange.of(early.connection()));
        var after = new Segments()
                .say(get("/a"), 0)
                .say(head, 0)
                .say(answers("AB"), 0)
                .say(next, 0)
                .say(ok("B"), 0);
        assertEquals(2, exchanges(after.connection()));
    }

    private static int exchanges(RecordedConnection connection) {
        List<HttpExchange> all = HttpExchange.of(connection);
        return all == null ? -1 : all.size();
    }

    /// What two readers could understand in two ways (RFC 9112 sections 6.1 and 7.1).
    @Test
    void lengthsAreReadStrictly() throws Exception {
        String chunks = "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
        List<List<Turn>> strange = List.of(
                List.of(asks("POST /a HTTP/1.0\r\n" + chunks), ok("A")),
                List.of(get("/a"), answers("HTTP/1.0 200 OK\r\n" + chunks)),
                List.of(asks("POST /a HTTP/1.1\r\nContent-Length: \u000b1\r\n\r\na"), ok("A")),
                List.of(get("/a"), answers("HTTP/1.1 200 OK\r\nContent-Length: 1\f\r\n\r\na")),
                List.of(get("/a"), answers("HTTP/1.1 200 OK\r\n" + chunks.replace("1\r", "1\u001c\r"))));
        for (List<Turn> turns : strange) {
            assertEquals(-1, exchanges(with(turns)), turns::toString);
        }
        assertEquals(1, exchanges(with(List.of(get("/a"), answers("HTTP/1.1 200 OK\r\n" + chunks)))));
        assertEquals(
                1,
                exchanges(
                        with(List.of(get("/a"), answers("HTTP/1.1 200 OK\r\n" + chunks.replace("1\r", "1 \t;x\r"))))));
        assertEquals(
                1, exchanges(with(List.of(get("/a"), answers("HTTP/1.0 200 OK\r\nContent-Length:\t1 \r\n\r\na")))));
    }

    private RecordedConnection with(List<Turn> turns) throws Exception {
        var segments = new Segments();
        turns.forEach(turn -> segments.say(turn, 0));
        return segments.connection();
    }

    /// As many connections as there may be, and as many requests on one: a program that reads all of them for each of
    /// them would take minutes.
    @Test
    void manyConnectionsAndManyRequestsTakeALittleEach() throws Exception {
        int connections = 16_000;
        var apart = new ArrayList<Said>();
        var turns = new ArrayList<List<Turn>>();
        for (int i = 0; i < connections; i++) {
            turns.add(List.of(get("/" + i), ok("" + i)));
            apart.add(on(i, turns.getLast().getFirst()));
        }
        for (int i = 0; i < connections; i++) {
            apart.add(on(i, turns.get(i).getLast()));
        }
        assertPlayed(recorded(apart.toArray(Said[]::new)), turns);
        int requests = 60_000;
        var one = new ArrayList<Said>();
        turns.clear();
        for (int i = 0; i < requests; i++) {
            turns.add(List.of(i % 3 == 0 ? post("/p", "" + i) : get("/" + i % 7), ok("" + i)));
            turns.getLast().forEach(turn -> one.add(on(0, turn)));
        }
        assertPlayed(recorded(one.toArray(Said[]::new)), turns);
        var pool = new ArrayList<Said>();
        turns.clear();
        int shared = 20_000;
        for (int i = 0; i < shared; i++) {
            turns.add(List.of(get("/" + i), ok("" + i)));
            int connection = i % 2;
            turns.getLast().forEach(turn -> pool.add(on(connection, turn)));
        }
        for (int i = 0; i < shared; i += 50) {
            Collections.shuffle(turns.subList(i, i + 50), random);
        }
        assertPlayed(recorded(pool.toArray(Said[]::new)), turns);
    }

    /// Each on a connection of its own.
    private static void assertPlayed(Recording recording, List<List<Turn>> all) throws Exception {
        HttpShelf shelf = HttpShelf.of(SERVER, recording.cassette().connections(SERVER), new DrawnIds());
        assertNotNull(shelf);
        for (List<Turn> turns : all) {
            var claim = new HttpClaim(shelf);
            assertNull(claim.take(turns.getFirst().octets()));
            shelf.tick(0);
            long length = claim.released();
            assertEquals(turns.getLast().octets().length, length);
            for (long at = 0; at < length; ) {
                at += claim.read(at, 10_000).length;
            }
            claim.acknowledge(length);
        }
        assertFalse(shelf.isAnyLeft());
    }
}
