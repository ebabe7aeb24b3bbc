package blackbox.replay.cassette;

import static blackbox.replay.cassette.HttpCassetteTest.SERVER;
import static blackbox.replay.cassette.HttpCassetteTest.get;
import static blackbox.replay.cassette.HttpCassetteTest.ok;
import static blackbox.replay.cassette.HttpCassetteTest.post;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.cassette.CassettePeer.Turned;
import blackbox.replay.cassette.Recording.Said;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.request.DrawnIds;
import blackbox.replay.request.RecordedWords;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Answers of plain HTTP/1.1 are given in the order in which they were recorded, and nothing waits for ever.
class HttpTurnsTest {
    private static final long SECOND = 1_000_000_000;
    private static final String EARLY = "the recorded run asked it only after others that were not answered here yet";

    private final Random random = new Random(3);
    private int port = 50_000;

    private static Said on(int connection, Turn turn) {
        return new Said(connection, turn);
    }

    private HttpShelf shelf(Said... exchanges) throws Exception {
        var recording = new Recording(random);
        recording.openTogether(80, List.of(exchanges));
        return shelf(recording);
    }

    /// The exchanges of a recording.
    static HttpShelf shelf(Recording recording) throws Exception {
        HttpShelf shelf =
                HttpShelf.of(SERVER, recording.cassette().connections(SERVER), new DrawnIds(RecordedWords.NONE));
        assertNotNull(shelf);
        return shelf;
    }

    private static HttpClaim ask(HttpShelf shelf, Turn request) {
        var claim = new HttpClaim(shelf);
        assertNull(claim.take(request.octets()));
        return claim;
    }

    /// Takes all that is released, and returns how much that was.
    private static long hear(HttpClaim claim) {
        long at = 0;
        while (at < claim.released()) {
            at += claim.read(at, 7).length;
        }
        return at;
    }

    private static long length(String body) {
        return ok(body).octets().length;
    }

    /// Two at once, of which the second is answered first.
    private static final Said[] TWO = {on(0, get("/a")), on(1, get("/b")), on(1, ok("B")), on(0, ok("A"))};

    @Test
    void anAnswerWaitsForThoseThatWereRecordedBefore() throws Exception {
        HttpShelf shelf = shelf(TWO);
        HttpClaim a = ask(shelf, get("/a"));
        assertEquals(SECOND, shelf.tick(0), "it is looked at again");
        assertEquals(0, a.released());
        HttpClaim b = ask(shelf, get("/b"));
        shelf.tick(SECOND / 2);
        assertEquals(0, a.released(), "it is asked, but not answered yet");
        assertEquals(length("B"), hear(b));
        assertTrue(shelf.takeChanged());
        assertEquals(length("A"), hear(a));
        assertEquals(PeerConnection.NO_TIMER, shelf.tick(SECOND / 2));
        assertNull(shelf.turned());
    }

    @Test
    void whatIsNotAskedIsWaitedForUntilTheGuestIsSilent() throws Exception {
        HttpShelf shelf = shelf(TWO);
        HttpClaim a = ask(shelf, get("/a"));
        shelf.tick(0);
        shelf.hear();
        assertEquals(SECOND / 2 + HttpTurns.QUIET_NS, shelf.tick(SECOND / 2));
        assertFalse(shelf.takeChanged() && a.released() > 0);
        assertEquals(PeerConnection.NO_TIMER, shelf.tick(SECOND / 2 + HttpTurns.QUIET_NS));
        assertTrue(shelf.takeChanged());
        assertEquals(length("A"), hear(a));
        assertNull(shelf.turned(), "nothing has come later than recorded yet");
        HttpClaim b = ask(shelf, get("/b"));
        shelf.tick(3 * SECOND);
        assertEquals(length("B"), hear(b));
        assertEquals(new Turned(SERVER, 0, 1), shelf.turned());
    }

    /// Also if the guest goes on talking.
    @Test
    void nothingIsWaitedForLongerThanItsTime() throws Exception {
        HttpShelf shelf = shelf(TWO);
        HttpClaim a = ask(shelf, get("/a"));
        long now = 0;
        while (a.released() == 0) {
            shelf.hear();
            shelf.tick(now);
            now += SECOND / 10;
        }
        assertEquals(HttpTurns.STEP_NS, now - SECOND / 10);
    }

    /// Also if there is progress all the time: clients give up after some time.
    @Test
    void anAnswerDoesNotWaitForManyOthers() throws Exception {
        var exchanges = new ArrayList<Said>();
        int count = 40;
        for (int i = 0; i <= count; i++) {
            exchanges.add(on(i, get("/" + i)));
        }
        for (int i = 1; i <= count; i++) {
            exchanges.add(on(i, ok("" + i)));
        }
        exchanges.add(on(0, ok("last")));
        HttpShelf shelf = shelf(exchanges.toArray(Said[]::new));
        HttpClaim last = ask(shelf, get("/0"));
        long now = 0;
        for (int i = 1; last.released() == 0; i++) {
            shelf.tick(now);
            now += SECOND / 2;
            HttpClaim claim = ask(shelf, get("/" + i));
            shelf.tick(now);
            assertEquals(length("" + i), hear(claim));
        }
        assertEquals(HttpTurns.ANSWER_NS, now);
    }

    /// Who waits for each answer, as an agent does, is never waited for.
    @Test
    void aClientOfOneConnectionDoesNotWait() throws Exception {
        HttpShelf shelf = shelf(
                on(0, get("/a")), on(0, ok("A")), on(1, get("/b")), on(1, ok("B")), on(0, get("/c")), on(0, ok("C")));
        for (String path : List.of("/c", "/b", "/a")) {
            HttpClaim claim = ask(shelf, get(path));
            assertEquals(PeerConnection.NO_TIMER, shelf.tick(0));
            assertTrue(hear(claim) > 0, path);
        }
        assertEquals(new Turned(SERVER, 0, 2), shelf.turned());
    }

    /// All connections that a pool has are taken by requests that were recorded after what is missing.
    @Test
    void aFullPoolDoesNotWait() throws Exception {
        HttpShelf shelf = shelf(
                on(0, get("/a")),
                on(1, get("/b")),
                on(1, ok("B")),
                on(1, get("/c")),
                on(1, ok("C")),
                on(0, ok("A")),
                on(0, get("/d")),
                on(0, ok("D")));
        HttpClaim a = ask(shelf, get("/a"));
        shelf.tick(0);
        HttpClaim d = ask(shelf, get("/d"));
        assertEquals(0, a.released());
        shelf.tick(0);
        assertEquals(length("A"), hear(a));
        assertEquals(length("D"), hear(d));
    }

    /// All are asked at once, and the last one is answered first.
    private HttpShelf answeredInReverse(int count) throws Exception {
        var exchanges = new ArrayList<Said>();
        for (int i = 0; i < count; i++) {
            exchanges.add(on(i, get("/" + i)));
        }
        for (int i = count - 1; i >= 0; i--) {
            exchanges.add(on(i, ok("" + i)));
        }
        return shelf(exchanges.toArray(Said[]::new));
    }

    /// What was waited for in vain is not waited for again, and after some time nothing is.
    @Test
    void waitingInVainIsBounded() throws Exception {
        int count = 200;
        HttpShelf shelf = answeredInReverse(count);
        long now = 0;
        for (int i = 0; i < count; i++) {
            HttpClaim claim = ask(shelf, get("/" + i));
            for (long due = shelf.tick(now); due != PeerConnection.NO_TIMER; due = shelf.tick(now)) {
                now = due;
            }
            assertEquals(length("" + i), hear(claim));
        }
        assertTrue(now <= HttpTurns.VAIN_NS + HttpTurns.STEP_NS, "it took " + now + " ns");
        assertEquals(new Turned(SERVER, 0, count - 1), shelf.turned());
    }

    /// Also if the guest is never silent, as with a long download beside it.
    @Test
    void waitingInVainIsBoundedWhileTheGuestTalks() throws Exception {
        int count = 50;
        HttpShelf shelf = answeredInReverse(count);
        long now = 0;
        for (int i = 0; i < count; i++) {
            HttpClaim claim = ask(shelf, get("/" + i));
            for (shelf.tick(now); claim.released() == 0; shelf.tick(now)) {
                now += SECOND / 2;
                shelf.hear();
            }
            assertEquals(length("" + i), hear(claim));
        }
        assertTrue(now <= HttpTurns.VAIN_NS + HttpTurns.STEP_NS, "it took " + now + " ns");
    }

    /// A guest that stops reading one answer before it reads another.
    @Test
    void anAnswerThatIsNotReadIsNotWaitedForLonger() throws Exception {
        HttpShelf shelf = shelf(TWO);
        HttpClaim a = ask(shelf, get("/a"));
        HttpClaim b = ask(shelf, get("/b"));
        assertEquals(length("B"), b.released());
        shelf.tick(0);
        assertEquals(0, a.released());
        shelf.tick(HttpTurns.QUIET_NS);
        assertEquals(length("A"), hear(a));
        assertEquals(length("B"), hear(b));
        assertEquals(new Turned(SERVER, 0, 1), shelf.turned());
    }

    @Test
    void aClientThatIsKilledIsNotWaitedFor() throws Exception {
        HttpShelf shelf = shelf(TWO);
        HttpClaim a = ask(shelf, get("/a"));
        HttpClaim b = ask(shelf, get("/b"));
        assertNull(b.close());
        assertTrue(shelf.takeChanged());
        assertEquals(length("A"), hear(a));
    }

    /// The end of a long answer waits, too, but not what comes before it.
    @Test
    void endsAreInTheRecordedOrder() throws Exception {
        String large = "A".repeat(20_000);
        HttpShelf shelf = shelf(on(0, get("/a")), on(0, ok(large)), on(1, get("/b")), on(1, ok("B")));
        assertEquals(length(large), hear(ask(shelf, get("/a"))));
        var pieces = new Recording(random);
        List<Turn> body = new ArrayList<>();
        byte[] octets = ok(large).octets();
        for (int at = 0; at < octets.length; at += 1_000) {
            body.add(new Turn(false, Arrays.copyOfRange(octets, at, Math.min(octets.length, at + 1_000))));
        }
        var said = new ArrayList<Said>();
        said.add(on(0, get("/a")));
        said.add(on(1, get("/b")));
        body.subList(0, 10).forEach(turn -> said.add(on(0, turn)));
        said.add(on(1, ok("B")));
        body.subList(10, body.size()).forEach(turn -> said.add(on(0, turn)));
        pieces.openTogether(80, said);
        HttpShelf both = HttpShelf.of(SERVER, pieces.cassette().connections(SERVER), new DrawnIds(RecordedWords.NONE));
        assertNotNull(both);
        HttpClaim a = ask(both, get("/a"));
        long first = hear(a);
        assertTrue(first > 0 && first < octets.length, "all but its last segment: " + first);
        HttpClaim b = ask(both, get("/b"));
        assertEquals(length("B"), hear(b));
        assertEquals(octets.length, a.released());
    }

    /// One that was answered in the recording before two others were asked.
    private static final Said[] POSTS = {
        on(0, post("/a", "1")),
        on(0, ok("A")),
        on(1, post("/b", "2")),
        on(2, post("/c", "3")),
        on(1, ok("B")),
        on(2, ok("C"))
    };

    /// Two workers that post side by side, of which the recording shows one done before the other began.
    @Test
    void aRequestWaitsForTheAnswersToThoseBeforeIt() throws Exception {
        HttpShelf shelf = shelf(POSTS);
        HttpClaim a = ask(shelf, post("/a", "1"));
        HttpClaim b = ask(shelf, post("/b", "2"));
        shelf.tick(0);
        assertNull(b.resume());
        assertEquals(0, b.released());
        assertEquals(length("A"), hear(a));
        assertTrue(shelf.takeChanged());
        assertNull(b.resume());
        assertEquals(length("B"), hear(b));
        assertEquals(new Turned(SERVER, 1, 0), shelf.turned());
    }

    /// Their order may matter: what was sent first has reached the other side first.
    @Test
    void aRequestDoesNotPassOneThatWasNotSent() throws Exception {
        var recording = new Recording(random);
        recording.openTogether(80, List.of(POSTS));
        var guest = new TestGuest(recording.cassette(), random, 0);
        TestGuest.Connection early = guest.open(port++, 80, List.of(post("/b", "2"), ok("B")));
        guest.settle();
        assertTrue(early.reset);
        assertEquals(List.of(EARLY), guest.misses.stream().map(Miss::why).toList());
    }

    /// Each for its own time, also while the guest goes on talking.
    @Test
    void aRequestIsNotHeldBackForEver() throws Exception {
        HttpShelf shelf = shelf(POSTS);
        HttpClaim a = ask(shelf, post("/a", "1"));
        HttpClaim b = ask(shelf, post("/b", "2"));
        for (long now = 0; now < HttpShelf.HELD_NS; now += SECOND) {
            shelf.hear();
            shelf.tick(now);
            assertNull(b.resume());
        }
        HttpClaim c = ask(shelf, post("/c", "3"));
        shelf.hear();
        assertEquals(HttpShelf.HELD_NS, shelf.tick(HttpShelf.HELD_NS));
        assertTrue(shelf.takeChanged());
        Miss missed = b.resume();
        assertEquals(EARLY, missed == null ? null : missed.why());
        assertNull(c.resume());
        shelf.letGo();
        assertEquals(HttpShelf.HELD_NS + HttpShelf.QUIET_NS, shelf.tick(HttpShelf.HELD_NS));
        assertEquals(length("A"), hear(a));
        assertTrue(shelf.isHeld(c));
        assertNull(c.resume());
        assertFalse(shelf.isHeld(c));
    }

    /// Octets that arrive for a connection that was reset.
    @Test
    void whatWasMissedIsNotHeldBackAgain() throws Exception {
        HttpShelf shelf = shelf(POSTS);
        assertNotNull(ask(shelf, post("/a", "1")));
        HttpClaim b = ask(shelf, post("/b", "2"));
        shelf.tick(0);
        shelf.tick(HttpShelf.HELD_NS);
        assertNotNull(b.resume());
        shelf.letGo();
        assertNull(b.take(post("/b", "2").octets()));
        assertFalse(shelf.isHeld(b));
    }

    /// Who waits for the answer to the one before it asks for the other one has another order, and is found out.
    @Test
    void anOrderThatMattersIsMissed() throws Exception {
        for (Turn second : List.of(post("/b", "2"), get("/b"))) {
            var recording = new Recording(random);
            recording.openTogether(80, List.of(on(0, post("/a", "1")), on(0, ok("A")), on(1, second), on(1, ok("B"))));
            var guest = new TestGuest(recording.cassette(), random, 0);
            TestGuest.Connection one = guest.open(port++, 80, List.of(second, ok("B"), post("/a", "1"), ok("A")));
            guest.settle();
            assertTrue(one.reset);
            assertEquals(List.of(EARLY), guest.misses.stream().map(Miss::why).toList());
        }
    }

    /// A request that nobody recorded is refused at once, and so is one more than there were.
    @Test
    void onlyWhatWasRecordedIsHeldBack() throws Exception {
        HttpShelf shelf = shelf(POSTS);
        assertNotNull(ask(shelf, post("/a", "1")));
        assertNotNull(new HttpClaim(shelf).take(post("/d", "2").octets()));
        assertNull(new HttpClaim(shelf).take(post("/b", "2").octets()));
        assertNotNull(new HttpClaim(shelf).take(post("/b", "3").octets()));
    }

    @Test
    void whoGivesUpWhileItIsHeldBackIsMissed() throws Exception {
        HttpShelf shelf = shelf(POSTS);
        assertNotNull(ask(shelf, post("/a", "1")));
        HttpClaim early = ask(shelf, post("/b", "2"));
        Miss miss = early.close();
        assertEquals(EARLY, miss == null ? null : miss.why());
        assertEquals(PeerConnection.NO_TIMER, shelf.tick(0));
    }

    /// Whatever the order and the link: all is answered, and nothing missed.
    @Test
    void aPoolInAnyOrderOverABadLink() throws Exception {
        for (int round = 0; round < 30; round++) {
            var turns = new ArrayList<List<Turn>>();
            var said = new ArrayList<Said>();
            for (int i = 0; i < 12; i++) {
                turns.add(List.of(get("/" + i), ok(("" + i).repeat(1 + random.nextInt(2_000)))));
                said.add(on(i, turns.get(i).getFirst()));
            }
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                order.add(i);
            }
            Collections.shuffle(order, random);
            order.forEach(i -> said.add(on(i, turns.get(i).getLast())));
            var recording = new Recording(random);
            recording.openTogether(80, said);
            var guest = new TestGuest(recording.cassette(), random, 10);
            Collections.shuffle(turns, random);
            var all = new ArrayList<TestGuest.Connection>();
            for (int i = 0; i < 4; i++) {
                var mine = new ArrayList<Turn>();
                turns.subList(3 * i, 3 * i + 3).forEach(mine::addAll);
                all.add(guest.open(port++, 80, mine));
            }
            guest.settle();
            for (TestGuest.Connection each : all) {
                long expected = each.turns.stream()
                        .filter(turn -> !turn.guest())
                        .mapToInt(turn -> turn.octets().length)
                        .sum();
                assertEquals(expected, each.heard.toString(US_ASCII).length(), "round " + round);
            }
            assertEquals(List.of(), guest.misses);
        }
    }
}
