package blackbox.replay.cassette;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.cassette.CassettePeer.LookedUp;
import blackbox.replay.cassette.CassettePeer.Moved;
import blackbox.replay.cassette.Recording.Said;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.schemas.event.Endpoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Requests of plain HTTP/1.1 that go over other connections than in the recording, and what must not pass for
/// one.
class HttpCassetteTest {
    static final Endpoint SERVER = new Endpoint("10.0.2.2", 80);
    private static final Endpoint RESOLVER = new Endpoint("10.0.2.2", 53);

    private final Random random = new Random(1);
    private final Recording recording = new Recording(random);
    private int port = 50_000;

    static Turn get(String path) {
        return asks("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    }

    static Turn post(String path, String body) {
        return asks("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    static Turn ok(String body) {
        return answers("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    static Turn asks(String octets) {
        return new Turn(true, octets.getBytes(US_ASCII));
    }

    static Turn answers(String... octets) {
        return new Turn(false, String.join("", octets).getBytes(US_ASCII));
    }

    private TestGuest guest() throws Exception {
        return new TestGuest(recording.cassette(), random, 0);
    }

    /// Lets a guest's connection say these turns, and hear what is answered.
    private TestGuest.Connection says(TestGuest guest, Turn... turns) {
        TestGuest.Connection connection = guest.open(port++, 80, List.of(turns));
        guest.settle();
        return connection;
    }

    static void assertHeard(TestGuest.Connection connection, Turn... turns) {
        var all = new StringBuilder();
        for (Turn turn : turns) {
            all.append(new String(turn.octets(), US_ASCII));
        }
        assertEquals(all.toString(), connection.heard.toString(US_ASCII));
    }

    private static void assertMoved(TestGuest guest, long requests, int recorded, int replayed) {
        assertEquals(List.of(), guest.misses);
        assertEquals(
                List.of(new Moved(SERVER, requests, recorded, replayed)),
                guest.peer().played().moved());
    }

    private static void assertMissed(TestGuest guest, String why) {
        assertEquals(1, guest.misses.size(), guest.misses::toString);
        assertEquals(why, guest.misses.getFirst().why());
        assertEquals(List.of(), guest.peer().played().moved());
    }

    @Test
    void aConnectionThatWasClosedBetweenRequestsIsContinuedByAnother() throws Exception {
        recording.connection(40_000, 80, List.of(get("/a"), ok("A"), post("/b", "b"), ok("B")));
        TestGuest guest = guest();
        TestGuest.Connection first = says(guest, get("/a"), ok("A"));
        first.finish();
        TestGuest.Connection second = says(guest, post("/b", "b"), ok("B"));
        assertHeard(first, ok("A"));
        assertHeard(second, ok("B"));
        assertMoved(guest, 1, 1, 2);
    }

    @Test
    void twoConnectionsMayBecomeOne() throws Exception {
        recording.connection(40_000, 80, List.of(get("/a"), ok("A")));
        recording.openConnection(40_001, 80, List.of(get("/b"), ok("B")));
        TestGuest guest = guest();
        // The recorded server closed its first connection right after the answer, and this one does so, too.
        says(guest, get("/a"), ok("A"));
        assertHeard(says(guest, get("/b"), ok("B")), ok("B"));
        assertEquals(List.of(), guest.peer().played().moved());
        var kept = new Recording(random);
        kept.openConnection(40_000, 80, List.of(post("/a", "a"), ok("A")));
        kept.openConnection(40_001, 80, List.of(post("/b", "b"), ok("B")));
        var other = new TestGuest(kept.cassette(), random, 0);
        // Its end is the recorded one's only where nothing follows.
        TestGuest.Connection one = says(other, post("/a", "a"), ok("A"), post("/b", "b"), ok("B"));
        assertHeard(one, ok("A"), ok("B"));
        assertMoved(other, 1, 2, 1);
    }

    private void lookedUp(int guestPort, String name, String address) {
        recording.udp(true, guestPort, 53, CassettePeerTest.question(7, name));
        recording.udp(false, guestPort, 53, found(7, name, address));
    }

    private static byte[] found(int id, String name, String address) {
        byte[] question = CassettePeerTest.answerTo(id, name);
        question[7] = 1; // one answer
        byte[] answer = HexFormat.of().parseHex("c00c000100010000003c0004" + address);
        byte[] whole = Arrays.copyOf(question, question.length + answer.length);
        System.arraycopy(answer, 0, whole, question.length, answer.length);
        return whole;
    }

    private static void looksUp(TestGuest guest, String name, byte[] expected) {
        CassettePeerTest.ask(guest, 50_000, 53, CassettePeerTest.question(9, name));
        assertArrayEquals(expected, CassettePeerTest.answer(guest));
    }

    /// As a client does whose connection was closed in between, if it keeps no answers of DNS.
    @Test
    void whoOpensAnotherConnectionMayLookUpItsNameOnceMore() throws Exception {
        lookedUp(40_001, "api", "0a000202");
        lookedUp(40_002, "other", "0a000209");
        recording.openConnection(40_000, 80, List.of(get("/a"), ok("A"), post("/b", "b"), ok("B")));
        TestGuest guest = guest();
        looksUp(guest, "api", found(9, "api", "0a000202"));
        looksUp(guest, "other", found(9, "other", "0a000209"));
        says(guest, get("/a"), ok("A")).finish();
        guest.settle();
        guest.packets(); // of the connection
        CassettePeerTest.ask(guest, 50_001, 53, CassettePeerTest.question(10, "api"));
        assertArrayEquals(found(10, "api", "0a000202"), CassettePeerTest.answer(guest));
        assertEquals(Set.of(), guest.peer().played().lookedUp().names(), "not all was asked yet");
        assertHeard(says(guest, post("/b", "b"), ok("B")), ok("B"));
        assertMoved(guest, 1, 1, 2);
        assertEquals(
                new LookedUp(Map.of(RESOLVER, Set.of("api")), 0, 1),
                guest.peer().played().lookedUp());
        CassettePeerTest.ask(guest, 50_001, 53, CassettePeerTest.question(11, "api"));
        assertEquals(1, guest.misses.size(), "nothing is left to ask");
        assertEquals(Map.of(), guest.peer().played().lookedUp().resolvers());
    }

    @Test
    void aNameWithoutConnectionsIsLookedUpAsOftenAsRecorded() throws Exception {
        lookedUp(40_001, "other", "0a000209");
        recording.openConnection(40_000, 80, List.of(get("/a"), ok("A"), post("/b", "b"), ok("B")));
        TestGuest guest = guest();
        looksUp(guest, "other", found(9, "other", "0a000209"));
        CassettePeerTest.ask(guest, 50_001, 53, CassettePeerTest.question(10, "other"));
        guest.packets();
        assertMissed(guest, "every recorded datagram is used");
    }

    @Test
    void whoKeepsAConnectionNeedNotLookUpItsNameAgain() throws Exception {
        lookedUp(40_001, "api", "0a000202");
        lookedUp(40_002, "api", "0a000202");
        recording.openConnection(40_000, 80, List.of(post("/a", "a"), ok("A")));
        recording.openConnection(40_003, 80, List.of(post("/b", "b"), ok("B")));
        TestGuest guest = guest();
        looksUp(guest, "api", found(9, "api", "0a000202"));
        says(guest, post("/a", "a"), ok("A"), post("/b", "b"), ok("B"));
        assertMoved(guest, 1, 2, 1);
        assertEquals(
                new LookedUp(Map.of(RESOLVER, Set.of("api")), 1, 0),
                guest.peer().played().lookedUp());
    }

    /// Two connections, each after a look-up, of which a replay makes one.
    private TestGuest lookedUpTwice(Turn... other) throws Exception {
        lookedUp(40_001, "api", "0a000202");
        lookedUp(40_002, "api", "0a000202");
        recording.openConnection(40_000, 80, List.of(post("/a", "a"), ok("A")));
        recording.openConnection(40_003, 80, List.of(post("/b", "b"), ok("B")));
        for (Turn each : other) {
            recording.udp(each.guest(), 40_004, 53, each.octets());
        }
        return guest();
    }

    private void assertNotExcused(TestGuest guest, String why) {
        says(guest, post("/a", "a"), ok("A"), post("/b", "b"), ok("B"));
        assertMoved(guest, 1, 2, 1);
        assertEquals(Map.of(), guest.peer().played().lookedUp().resolvers(), why);
    }

    @Test
    void aNameThatIsNotLookedUpAtAllIsNotOfThePath() throws Exception {
        assertNotExcused(lookedUpTwice(), "it was never asked for");
    }

    @Test
    void anotherNameThatIsNotLookedUpIsNotOfThePath() throws Exception {
        TestGuest guest = lookedUpTwice(new Turn(true, CassettePeerTest.question(7, "other")));
        looksUp(guest, "api", found(9, "api", "0a000202"));
        assertNotExcused(guest, "another name was left out, too");
    }

    @Test
    void anotherTypeOfTheSameNameIsNotOfThePath() throws Exception {
        byte[] text = CassettePeerTest.question(7, "api");
        text[text.length - 3] = 16; // TXT
        TestGuest guest = lookedUpTwice(new Turn(true, text));
        looksUp(guest, "api", found(9, "api", "0a000202"));
        assertNotExcused(guest, "a question for texts was left out, too");
    }

    @Test
    void whatIsNoQuestionIsNotOfThePath() throws Exception {
        TestGuest guest = lookedUpTwice(asks("secret"));
        looksUp(guest, "api", found(9, "api", "0a000202"));
        assertNotExcused(guest, "something else was not sent");
    }

    /// One connection less leaves one look-up out, not one of each name that leads there.
    @Test
    void severalNamesOfAnAddressShareItsConnections() throws Exception {
        lookedUp(40_005, "other", "0a000202");
        lookedUp(40_006, "other", "0a000202");
        TestGuest guest = lookedUpTwice();
        looksUp(guest, "api", found(9, "api", "0a000202"));
        looksUp(guest, "other", found(9, "other", "0a000202"));
        assertNotExcused(guest, "two names, one connection");
    }

    @Test
    void whatIsRepeatedCountsToo() throws Exception {
        TestGuest guest = lookedUpTwice();
        for (int times = 0; times < 5; times++) {
            looksUp(guest, "api", found(9, "api", "0a000202")); // the same port and id
        }
        assertNotExcused(guest, "asked more often, over fewer connections");
    }

    @Test
    void requestsOfAPoolAreAnsweredOnAnyConnection() throws Exception {
        recording.openConnection(40_000, 80, List.of(get("/a1"), ok("A1"), get("/a2"), ok("A2")));
        recording.openConnection(40_001, 80, List.of(get("/b1"), ok("B1"), get("/b2"), ok("B2")));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/a1"), ok("A1"), get("/b1"), ok("B1")), ok("A1"), ok("B1"));
        assertHeard(says(guest, get("/b2"), ok("B2")), ok("B2"));
        assertHeard(says(guest, get("/a2"), ok("A2")), ok("A2"));
        assertMoved(guest, 3, 2, 3);
    }

    /// A pool takes the connection that is free first, and what waits for one may wait in another order.
    @Test
    void whatChangesNothingMayComeInAnyOrderFromAPool() throws Exception {
        List<Turn> turns = List.of(get("/a1"), ok("A1"), get("/a2"), ok("A2"), get("/a3"), ok("A3"));
        recording.openConnections(
                80, List.of(turns, List.of(get("/b1"), ok("B1"), get("/b2"), ok("B2"), post("/b3", "b"), ok("B3"))));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/a3"), ok("A3"), get("/a1"), ok("A1")), ok("A3"), ok("A1"));
        assertHeard(says(guest, get("/b2"), ok("B2"), get("/b1"), ok("B1")), ok("B2"), ok("B1"));
        assertHeard(says(guest, get("/a2"), ok("A2"), post("/b3", "b"), ok("B3")), ok("A2"), ok("B3"));
        assertMoved(guest, 6, 2, 3);
        TestGuest early = guest();
        assertHeard(says(early, post("/b3", "b"), ok("B3")));
        assertEquals(1, early.misses.size(), "what may change something keeps its place");
        var single = new Recording(random);
        single.openConnection(40_000, 80, turns);
        var other = new TestGuest(single.cassette(), random, 0);
        assertHeard(says(other, get("/a2"), ok("A2")));
        assertEquals(1, other.misses.size(), "one connection is no pool");
    }

    /// As recorded, nothing is moved.
    @Test
    void connectionsAsRecordedAreNotReported() throws Exception {
        recording.connection(40_000, 80, List.of(get("/a"), ok("A"), get("/b"), ok("B")));
        recording.connection(40_001, 80, List.of(get("/a"), ok("C"), get("/c"), ok("D")));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/a"), ok("A"), get("/b"), ok("B")), ok("A"), ok("B"));
        TestGuest.Connection second = says(guest, get("/a"), ok("C"), get("/c"), ok("D"));
        assertHeard(second, ok("C"), ok("D"));
        assertTrue(second.remoteFinished);
        assertEquals(List.of(), guest.misses);
        assertEquals(
                new CassettePeer.Played(
                        2,
                        0,
                        0,
                        0,
                        0,
                        List.of(),
                        new LookedUp(Map.of(), 0, 0),
                        List.of(),
                        Set.of(),
                        List.of(),
                        Map.of()),
                guest.peer().played());
    }

    @Test
    void anotherRequestIsNotAnswered() throws Exception {
        recording.connection(40_000, 80, List.of(post("/a", "one"), ok("A"), post("/b", "two"), ok("B")));
        TestGuest guest = guest();
        says(guest, post("/a", "one"), ok("A")).finish();
        TestGuest.Connection second = says(guest, post("/b", "twx"), ok("B"));
        assertHeard(second);
        assertTrue(second.reset);
        assertMissed(guest, "the request differs from the recorded one in its body");
    }

    @Test
    void theOrderOfARecordedConnectionStays() throws Exception {
        recording.connection(40_000, 80, List.of(post("/a", "a"), ok("A"), post("/b", "b"), ok("B")));
        TestGuest guest = guest();
        assertHeard(says(guest, post("/b", "b"), ok("B")));
        assertMissed(guest, "the recorded run asked it only after others that were not answered here yet");
    }

    @Test
    void theOrderOfConnectionsStaysOnOne() throws Exception {
        recording.openConnection(40_000, 80, List.of(get("/a"), ok("A")));
        recording.openConnection(40_001, 80, List.of(get("/b"), ok("B")));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/b"), ok("B"), get("/a"), ok("A")), ok("B"));
        assertMissed(guest, "the recorded run asked it before what came before it here");
    }

    @Test
    void aRequestThatIsBrokenOffIsMissed() throws Exception {
        recording.connection(40_000, 80, List.of(post("/a", "a"), ok("A"), post("/b", "bbbb"), ok("B")));
        for (boolean inOrder : new boolean[] {true, false}) {
            TestGuest guest = guest();
            TestGuest.Connection first = says(guest, post("/a", "a"), ok("A"), asks("POST /b HT"), answers("?"));
            if (inOrder) {
                first.finish();
            } else {
                first.abort();
            }
            assertHeard(first, ok("A"));
            assertMissed(guest, "the recorded request continues");
        }
    }

    /// Its octets have reached the peer, though the same request was whole elsewhere.
    @Test
    void aRequestThatIsNotWholeAtTheEndIsNotTheSame() throws Exception {
        recording.openConnection(40_000, 80, List.of(get("/a"), ok("A"), get("/b"), ok("B")));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/a"), ok("A"), asks("GET /b HT"), answers("?")), ok("A"));
        assertHeard(says(guest, get("/b"), ok("B")), ok("B"));
        assertEquals(List.of(), guest.misses);
        assertEquals(List.of(), guest.peer().played().moved());
    }

    /// Who did not take an answer did not do the same.
    @Test
    void aConnectionThatIsBrokenOffBeforeTheAnswerIsNotContinued() throws Exception {
        String large = "A".repeat(200_000);
        recording.connection(40_000, 80, List.of(get("/a"), ok(large), get("/b"), ok("B")));
        TestGuest guest = guest();
        TestGuest.Connection first = guest.open(port++, 80, List.of(get("/a"), ok(large)));
        guest.settleSome(6);
        assertTrue(first.heard.size() > 0);
        assertTrue(first.heard.size() < large.length());
        first.abort();
        assertHeard(says(guest, get("/b"), ok("B")));
        assertMissed(guest, "all recorded connections to it are used (1)");
    }

    /// Two connections at once, whose requests begin alike.
    @Test
    void requestsThatBeginAlikeGetTheirOwnAnswers() throws Exception {
        String one = "x".repeat(20_000) + "1";
        String two = "x".repeat(20_000) + "2";
        recording.openTogether(
                80,
                List.of(
                        new Said(0, post("/p", one)),
                        new Said(1, post("/p", two)),
                        new Said(0, ok("ONE")),
                        new Said(1, ok("TWO"))));
        TestGuest guest = guest();
        TestGuest.Connection second = guest.open(port++, 80, List.of(post("/p", two), ok("TWO")));
        TestGuest.Connection first = guest.open(port++, 80, List.of(post("/p", one), ok("ONE")));
        guest.settle();
        assertHeard(first, ok("ONE"));
        assertHeard(second, ok("TWO"));
        assertEquals(List.of(), guest.misses);
    }

    @Test
    void anAnswerThatWasNotRecordedWholeIsTheLast() throws Exception {
        Turn half = answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        recording.openConnection(40_000, 80, List.of(get("/a"), half));
        recording.openConnection(40_001, 80, List.of(get("/b"), ok("B")));
        TestGuest guest = guest();
        assertHeard(says(guest, get("/a"), half, get("/b"), ok("B")), half);
        assertMissed(guest, "the answer to the recorded request was not taken yet");
    }

    /// Chunks, answers without a body, answers that end with the connection, and what comes before an answer.
    @Test
    void messagesEndWhereTheySay() throws Exception {
        List<Turn> turns = List.of(
                asks("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
                answers(
                        "HTTP/1.1 100 Continue\r\n\r\n",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                        "a;x=y\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"),
                asks("HEAD /b HTTP/1.1\r\n\r\n"),
                answers("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
                get("/c"),
                answers("HTTP/1.1 304 Not Modified\r\n\r\n"),
                get("/d"),
                answers("HTTP/1.0 200 OK\r\n\r\nuntil the end"));
        recording.connection(40_000, 80, turns);
        TestGuest guest = guest();
        for (int i = 0; i < turns.size(); i += 2) {
            TestGuest.Connection each = says(guest, turns.get(i), turns.get(i + 1));
            assertHeard(each, turns.get(i + 1));
            if (i + 2 < turns.size()) {
                each.finish();
            } else {
                assertTrue(each.remoteFinished);
            }
        }
        assertMoved(guest, 3, 1, 4);
    }

    /// Of what is not plain HTTP/1.1, or could be understood in two ways, a connection is one piece.
    @Test
    void otherConversationsAreNotTakenApart() throws Exception {
        List<List<Turn>> conversations = List.of(
                List.of(asks("SELECT 1\r\n"), answers("+OK\r\n"), asks("GET x\r\n"), answers("$1\r\n")),
                List.of(asks("\u0016\u0003\u0001hello"), answers("\u0016\u0003hello"), asks("a"), answers("b")),
                List.of(
                        get("/a"),
                        answers("HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"),
                        get("/b"),
                        ok("B")),
                List.of(get("/a"), answers("HTTP/1.1 101 Switching Protocols\r\n\r\n"), get("/b"), ok("B")),
                List.of(asks("CONNECT x:1 HTTP/1.1\r\n\r\n"), ok(""), get("/b"), ok("B")),
                List.of(
                        asks("POST /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                        ok("A"),
                        get("/b"),
                        ok("B")),
                List.of(
                        asks("POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"),
                        ok("A"),
                        get("/b"),
                        ok("B")),
                List.of(asks("GET /a HTTP/1.1\nHost: x\n\n"), ok("A"), get("/b"), ok("B")),
                List.of(asks("GET /a HTTP/1.1\r\nHost : x\r\n\r\n"), ok("A"), get("/b"), ok("B")));
        for (List<Turn> turns : conversations) {
            var recorded = new Recording(random);
            recorded.connection(40_000, 80, turns);
            var guest = new TestGuest(recorded.cassette(), random, 0);
            says(guest, turns.get(0), turns.get(1)).finish();
            assertHeard(says(guest, turns.get(2), turns.get(3)));
            assertEquals(2, guest.misses.size(), turns::toString);
            assertEquals(List.of(), guest.peer().played().moved());
        }
    }

    @Test
    void aPeerThatSpeaksFirstOrIsAskedTwiceAtOnceIsOnePiece() throws Exception {
        List<List<Turn>> conversations = List.of(
                List.of(ok("first"), get("/a"), get("/b"), ok("B")), List.of(get("/a"), get("/b"), ok("A"), ok("B")));
        for (List<Turn> turns : conversations) {
            var recorded = new Recording(random);
            recorded.connection(40_000, 80, turns);
            var guest = new TestGuest(recorded.cassette(), random, 0);
            TestGuest.Connection second = says(guest, get("/b"), ok("B"));
            assertFalse(second.heard.toString(US_ASCII).endsWith("B"), turns::toString);
            assertEquals(1, guest.misses.size());
        }
    }

    /// Conversations of a pool, distributed anew over a link that loses, repeats and swaps one frame in ten: each
    /// answer
    /// is the one to its request.
    @Test
    void whateverTheConnectionTheAnswerIsTheRecordedOne() throws Exception {
        for (int seed = 0; seed < 60; seed++) {
            var seeded = new Random(seed);
            var recorded = new Recording(seeded);
            var queue = new ArrayList<List<Turn>>();
            int count = 1 + seeded.nextInt(4);
            for (int i = 0; i < count; i++) {
                var turns = new ArrayList<Turn>();
                int exchanges = 1 + seeded.nextInt(4);
                for (int k = 0; k < exchanges; k++) {
                    String name = "/" + i + "/" + k;
                    Turn request = seeded.nextBoolean() ? get(name) : post(name, "b".repeat(seeded.nextInt(5_000)));
                    Turn answer = ok(name + "a".repeat(seeded.nextInt(30_000)));
                    turns.add(request);
                    turns.add(answer);
                    queue.add(List.of(request, answer));
                }
                recorded.openConnection(40_000 + i, 80, turns);
            }
            var guest = new TestGuest(recorded.cassette(), seeded, 10);
            int next = 51_000;
            while (!queue.isEmpty()) {
                var turns = new ArrayList<Turn>();
                int take = 1 + seeded.nextInt(3);
                for (int k = 0; k < take && !queue.isEmpty(); k++) {
                    turns.addAll(queue.removeFirst());
                }
                TestGuest.Connection each = guest.open(next++, 80, turns);
                guest.settle();
                var heard = new java.io.ByteArrayOutputStream();
                turns.stream().filter(turn -> !turn.guest()).forEach(turn -> heard.writeBytes(turn.octets()));
                assertArrayEquals(heard.toByteArray(), each.heard.toByteArray(), "seed " + seed);
            }
            assertEquals(List.of(), guest.misses, "seed " + seed);
        }
    }
}
