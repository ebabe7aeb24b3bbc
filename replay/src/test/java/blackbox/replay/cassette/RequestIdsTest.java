package blackbox.replay.cassette;

import static blackbox.replay.cassette.HttpCassetteTest.SERVER;
import static blackbox.replay.cassette.HttpCassetteTest.asks;
import static blackbox.replay.cassette.HttpCassetteTest.assertHeard;
import static blackbox.replay.cassette.HttpCassetteTest.get;
import static blackbox.replay.cassette.HttpCassetteTest.ok;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.cassette.CassettePeer.StandIns;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.request.IdPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// Requests whose ids a client draws anew in each execution.
class RequestIdsTest {
    private static final String SESSION = "1ff9530e-7ac8-4940-9574-74662aa7b7e3";
    private static final String OTHER = "9ef017dd-509e-49fc-ac54-e8239e3b49d2";
    private static final int ROUNDS = 30;

    private final Recording recording = new Recording(new Random(0));

    private static Turn post(String session, String request, String body) {
        return asks("POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Session-Id: " + session + "\r\nX-Request-Id: " + request
                + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }

    private static String id(Random random) {
        return new UUID(random.nextLong(), random.nextLong()).toString();
    }

    private TestGuest.Connection says(TestGuest guest, int port, Turn... turns) {
        TestGuest.Connection connection = guest.open(port, 80, List.of(turns));
        guest.settle();
        return connection;
    }

    /// However segments are cut, and in whatever order requests with the same text and other ids come.
    @Test
    void requestsWithIdsOfTheirOwnAreAnswered() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            var seeded = new Random(round);
            var recorded = new Recording(seeded);
            String session = id(seeded);
            String own = id(seeded);
            var then = new ArrayList<Turn>();
            var now = new ArrayList<Turn>();
            for (int i = 0; i < 4; i++) {
                String text = "t".repeat(seeded.nextInt(4_000));
                then.add(post(session, id(seeded), text + " " + session));
                now.add(post(own, id(seeded), text + " " + own));
                Turn answer = ok("a" + i);
                then.add(answer);
                now.add(answer);
            }
            recorded.connection(40_000, 80, then);
            var guest = new TestGuest(recorded.cassette(), seeded, 10);
            TestGuest.Connection connection = says(guest, 50_000, now.toArray(Turn[]::new));
            assertEquals(List.of(), guest.misses, "round " + round);
            assertHeard(connection, ok("a0"), ok("a1"), ok("a2"), ok("a3"));
            assertEquals(
                    List.of(new StandIns(
                            SERVER, Map.of(IdPlace.REQUEST_ID, 4L, IdPlace.SESSION_ID, 4L, IdPlace.TIED_ID, 4L))),
                    guest.peer().played().standIns());
            assertEquals(own, guest.peer().played().ids().get(session));
        }
    }

    @Test
    void anotherTextOrSessionIsMissed() throws Exception {
        recording.connection(
                40_000,
                80,
                List.of(
                        post(SESSION, id(new Random(1)), "one"),
                        ok("A"),
                        post(SESSION, id(new Random(2)), "two"),
                        ok("B")));
        var guest = new TestGuest(recording.cassette(), new Random(3), 10);
        TestGuest.Connection text = says(
                guest, 50_000, post(OTHER, id(new Random(4)), "one"), ok("A"), post(OTHER, id(new Random(5)), "twx"));
        assertHeard(text, ok("A"));
        assertTrue(text.reset);
        assertEquals(
                List.of("the request differs from the recorded one in its body"),
                guest.misses.stream().map(Miss::why).toList());
        TestGuest.Connection session = says(guest, 50_001, post(id(new Random(6)), id(new Random(7)), "two"), ok("B"));
        assertTrue(session.reset);
        assertEquals(
                "the request differs from the recorded one in its field x-session-id",
                guest.misses.getLast().why());
        assertEquals(2, guest.peer().played().missed());
    }

    /// What is never whole is missed once the guest gives up.
    @Test
    void aRequestThatIsNeverWholeIsMissed() throws Exception {
        recording.connection(40_000, 80, List.of(post(SESSION, id(new Random(1)), "one"), ok("A"), get("/b"), ok("B")));
        var guest = new TestGuest(recording.cassette(), new Random(3), 10);
        Turn whole = post(OTHER, id(new Random(4)), "one");
        Turn part = new Turn(true, java.util.Arrays.copyOf(whole.octets(), whole.octets().length - 1));
        TestGuest.Connection connection = says(guest, 50_000, part);
        assertEquals(List.of(), guest.misses, "more may come");
        connection.finish();
        guest.settle();
        assertEquals(
                List.of("the request differs from the recorded one"),
                guest.misses.stream().map(Miss::why).toList());
    }
}
