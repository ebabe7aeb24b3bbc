package blackbox.replay.cassette;

import static blackbox.replay.cassette.HttpCassetteTest.get;
import static blackbox.replay.cassette.HttpCassetteTest.ok;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.cassette.RecordedConnection.End;
import blackbox.replay.cassette.Recording.Said;
import blackbox.replay.cassette.Recording.Turn;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Connections end in the order in which they ended in the recording, and none waits for ever.
class HttpEndsTest {
    /// Two at once, which are answered in turn.
    private static final List<Said> TWO =
            List.of(new Said(0, get("/a")), new Said(1, get("/b")), new Said(0, ok("A")), new Said(1, ok("B")));

    private static HttpShelf shelf(List<Said> said, List<Integer> closed) throws Exception {
        var recording = new Recording(new Random(5));
        recording.closedTogether(80, said, closed);
        return HttpTurnsTest.shelf(recording);
    }

    /// Asks, and takes all that is answered.
    private static HttpClaim answered(HttpShelf shelf, Turn request) {
        var claim = new HttpClaim(shelf);
        assertNull(claim.take(request.octets()));
        for (long at = 0; at < claim.released(); ) {
            at += claim.read(at, 7).length;
            claim.acknowledge(at);
        }
        return claim;
    }

    @Test
    void aConnectionEndsOnceTheGuestHasLeftThoseThatEndedBefore() throws Exception {
        HttpShelf shelf = shelf(TWO, List.of(1, 0));
        HttpClaim a = answered(shelf, get("/a"));
        HttpClaim b = answered(shelf, get("/b"));
        assertEquals(End.NONE, a.end());
        assertEquals(End.FIN, b.end());
        b.ended();
        assertTrue(shelf.takeChanged());
        assertEquals(End.NONE, a.end(), "the guest has not left the other one");
        assertNull(b.finish());
        assertTrue(shelf.takeChanged());
        assertEquals(End.FIN, a.end());
        a.ended();
        assertEquals(End.FIN, a.end(), "it may have to be said again");
        assertEquals(PeerConnection.NO_TIMER, shelf.tick(0));
    }

    @Test
    void itWaitsForAnswersThatWereGivenBefore() throws Exception {
        HttpShelf shelf = shelf(TWO, List.of(0, 1));
        HttpClaim a = answered(shelf, get("/a"));
        assertEquals(End.NONE, a.end());
        HttpClaim b = answered(shelf, get("/b"));
        assertEquals(End.FIN, a.end());
        assertEquals(End.NONE, b.end());
    }

    @Test
    void whoLeavesWithoutAnEndIsNotWaitedFor() throws Exception {
        HttpShelf shelf = shelf(TWO, List.of(1, 0));
        HttpClaim a = answered(shelf, get("/a"));
        HttpClaim b = answered(shelf, get("/b"));
        assertEquals(End.NONE, a.end());
        assertNull(b.close());
        assertEquals(End.FIN, a.end());
    }

    @Test
    void nothingIsWaitedForLongerThanItsTime() throws Exception {
        HttpShelf shelf = shelf(TWO, List.of(1, 0));
        HttpClaim a = answered(shelf, get("/a"));
        assertEquals(End.NONE, a.end());
        long due = shelf.tick(0);
        assertEquals(HttpTurns.QUIET_NS, due);
        assertEquals(End.NONE, a.end());
        shelf.tick(due);
        assertTrue(shelf.takeChanged());
        assertEquals(End.FIN, a.end());
    }

    /// A client that closes no connection is not slowed down by more than is allowed in all.
    @Test
    void manyEndsInVainCostNoMoreThanIsAllowed() throws Exception {
        int many = 40;
        var said = new ArrayList<Said>();
        IntStream.range(0, many).forEach(i -> said.add(new Said(i, get("/" + i))));
        IntStream.range(0, many).forEach(i -> said.add(new Said(i, ok("" + i))));
        var closed = new ArrayList<>(IntStream.range(0, many).boxed().toList());
        Collections.shuffle(closed, new Random(6));
        HttpShelf shelf = shelf(said, closed);
        List<HttpClaim> claims = IntStream.range(0, many)
                .mapToObj(i -> answered(shelf, get("/" + i)))
                .toList();
        long now = 0;
        for (long left = many; left > 0; ) {
            for (HttpClaim claim : claims) {
                if (claim.end() == End.FIN) {
                    claim.ended();
                }
            }
            left = claims.stream().filter(claim -> claim.end() == End.NONE).count();
            long due = shelf.tick(now);
            now = left == 0 || shelf.takeChanged() ? now : due;
        }
        assertTrue(now >= HttpTurns.VAIN_NS && now <= HttpTurns.VAIN_NS + HttpTurns.STEP_NS, "after " + now + " ns");
    }
}
