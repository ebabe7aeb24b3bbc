package blackbox.replay.cassette;

import blackbox.replay.cassette.RecordedConnection.End;
import blackbox.replay.request.RequestMatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One guest connection's hold on recorded HTTP/1.1 exchanges: one after the other, each once the answer to the one
/// before has arrived. The choice of an exchange is final once an answer has been given, or its request is whole.
final class HttpClaim implements Conversation {
    private static final byte[] NOTHING = new byte[0];
    private static final String EARLY = "the recorded run asked it only after others that were not answered here yet";

    private final HttpShelf shelf;
    /// The exchange that is being asked or answered, null at first.
    private @Nullable HttpExchange current;
    private boolean asked;
    private boolean begun;
    private boolean answered;
    private boolean delivered;
    /// What was sent of its request.
    private RequestOctets sent;
    /// What went before it.
    private HttpShelf.History previous = HttpShelf.History.NONE;
    private long requestsBefore;
    private long answersBefore;
    /// How many octets of answers were handed out.
    private long answers;

    /// What is sent instead of a recorded request, until it is whole; null as long as it is equal to one.
    private @Nullable GuestRequest other;
    /// How many octets of it went before it was known to be another.
    private long otherFrom;

    private long acknowledged;
    private boolean finished;
    private boolean over;

    HttpClaim(HttpShelf shelf) {
        this.shelf = shelf;
        this.sent = new RequestOctets(shelf.remote());
        shelf.open();
    }

    @Override
    public @Nullable Miss take(byte[] octets) {
        if (over) {
            return null;
        }
        shelf.hear();
        Miss miss = missOf(octets);
        over |= miss != null;
        return miss;
    }

    private @Nullable Miss missOf(byte[] octets) {
        GuestRequest another = other;
        if (another != null) {
            return take(another, octets);
        }
        HttpExchange now = current;
        if (now != null && asked && sent.count() == now.request().length()) {
            if (end() != End.NONE) {
                return sent.miss(now.request(), sent.count(), octets, "the recorded connection ended here");
            }
            if (!delivered) {
                return sent.miss(
                        now.request(), sent.count(), octets, "the answer to the recorded request was not taken yet");
            }
            goOn(now);
        }
        return asked ? more(octets) : first(octets);
    }

    private void goOn(HttpExchange done) {
        previous = previous.with(done);
        requestsBefore += done.request().length();
        answersBefore += done.answer().length();
        sent = new RequestOctets(shelf.remote());
        current = null;
        asked = false;
        begun = false;
        answered = false;
        delivered = false;
    }

    /// Octets of a request whose exchange is settled.
    private @Nullable Miss more(byte[] octets) {
        HttpExchange now = current;
        if (now == null) {
            throw new IllegalStateException("nothing was asked");
        }
        if (now.request().mismatch(sent.count(), octets) < octets.length) {
            return unlike(octets);
        }
        agree(now, octets);
        note();
        return null;
    }

    private void agree(HttpExchange with, byte[] octets) {
        if (sent.count() == 0) {
            shelf.begin();
        }
        sent.take(octets);
        if (sent.count() == with.request().length()) {
            shelf.finish();
        }
    }

    /// Octets of a request that several recorded ones may begin with.
    private @Nullable Miss first(byte[] octets) {
        HttpExchange found = shelf.find(previous, current, sent.count(), octets);
        if (found == null) {
            return unlike(octets);
        }
        current = found;
        agree(found, octets);
        return settle(found);
    }

    /// Keeps octets of a request that none of the recorded ones equals, until it can be told whether it stands for one.
    private @Nullable Miss unlike(byte[] octets) {
        HttpExchange now = current;
        if (sent.count() > GuestRequest.OCTETS_MAX || !shelf.keep()) {
            return unlike(now == null ? shelf.nearest(octets) : now, octets, null);
        }
        otherFrom = sent.count();
        return take(new GuestRequest(now == null ? NOTHING : now.request().first(sent.count())), octets);
    }

    private @Nullable Miss take(GuestRequest another, byte[] octets) {
        other = another;
        GuestRequest.State state = another.add(octets);
        if (state == GuestRequest.State.PART) {
            return null;
        }
        other = null;
        shelf.drop();
        return state == GuestRequest.State.WHOLE ? standIn(another) : missOf(another, false);
    }

    /// Gives up a request that is not whole.
    private Miss missOf(GuestRequest another) {
        other = null;
        shelf.drop();
        return missOf(another, false);
    }

    /// Goes on as if the recorded request had been sent that another one stands for.
    private @Nullable Miss standIn(GuestRequest another) {
        HttpExchange settled = asked ? current : null;
        HttpExchange found = shelf.findLike(previous, settled, another.toBytes());
        if (found == null) {
            return missOf(another, true);
        }
        if (settled != null) {
            return more(found.request().rest(sent.count()));
        }
        if (sent.count() > 0) {
            shelf.finish();
        }
        sent = new RequestOctets(shelf.remote());
        current = null;
        return first(found.request().rest(0));
    }

    private Miss missOf(GuestRequest another, boolean whole) {
        byte[] all = another.toBytes();
        byte[] rest = Arrays.copyOfRange(all, Math.toIntExact(otherFrom), all.length);
        HttpExchange nearest = current == null ? shelf.nearest(all) : current;
        return unlike(nearest, rest, nearest == null || !whole ? null : shelf.difference(nearest, all));
    }

    /// @param difference where the first octet is that no id explains; null if that is not known
    private Miss unlike(@Nullable HttpExchange nearest, byte[] octets, @Nullable RequestMatch difference) {
        if (nearest == null) {
            return sent.miss(null, 0, octets, "all recorded requests to it are used");
        }
        if (difference != null && !difference.isMatch() && difference.differsAt() < sent.count() + octets.length) {
            String where = difference.where();
            return sent.miss(
                    nearest.request(),
                    difference.differsAt(),
                    octets,
                    "the request differs from the recorded one" + (where == null ? "" : " " + where));
        }
        long same = sent.count() + nearest.request().mismatch(sent.count(), octets);
        if (same < sent.count() + octets.length && (difference == null || !difference.isMatch())) {
            return miss(nearest, same, octets);
        }
        String why = shelf.mayAsk(nearest) ? "the recorded run asked it before what came before it here" : EARLY;
        return sent.miss(nearest.request(), same, octets, why);
    }

    /// Settles for an exchange if it is time, and its turn. What comes before others is held back: if these are
    /// asked although it has no answer, they do not depend on it. Otherwise it is missed, for their order may
    /// matter; at once, if one of them went over its own connection.
    private @Nullable Miss settle(HttpExchange found) {
        if (found.needsFirst() > sent.count()) {
            return null;
        }
        if (shelf.mayAsk(found)) {
            shelf.release(this);
            shelf.ask(found, previous.last());
            asked = true;
            return null;
        }
        if (!shelf.mayWait(found)) {
            return sent.miss(found.request(), sent.count(), NOTHING, EARLY);
        }
        shelf.hold(this);
        return null;
    }

    @Override
    public @Nullable Miss resume() {
        HttpExchange now = current;
        if (now == null || !shelf.isHeld(this)) {
            return null;
        }
        Miss miss = tryAgain(now);
        over |= miss != null;
        return miss;
    }

    private @Nullable Miss tryAgain(HttpExchange now) {
        HttpExchange found = shelf.find(previous, now, sent.count(), NOTHING);
        if (found == null) {
            return sent.miss(now.request(), sent.count(), NOTHING, "the recorded run asked it less often");
        }
        boolean late = shelf.isHeldTooLong(this);
        current = found;
        Miss miss = settle(found);
        return miss == null && !asked && late ? sent.miss(found.request(), sent.count(), NOTHING, EARLY) : miss;
    }

    private Miss miss(HttpExchange nearest, long at, byte[] more) {
        return sent.miss(nearest.request(), at, more);
    }

    @Override
    public @Nullable Miss finish() {
        finished = true;
        GuestRequest another = other;
        if (another != null) {
            over = true;
            return missOf(another);
        }
        HttpExchange now = current;
        if (now != null && now.isLast()) {
            shelf.leave(now);
        }
        if (now == null || sent.count() == now.request().length()) {
            return null;
        }
        over = true;
        return miss(now, sent.count(), NOTHING);
    }

    @Override
    public long received() {
        GuestRequest another = other;
        return requestsBefore + (another == null ? sent.count() : another.length()) + (finished ? 1 : 0);
    }

    @Override
    public long released() {
        HttpExchange now = current;
        return answersBefore + (now == null || !asked ? 0 : Math.min(shelf.allowed(now), now.released(sentOf(now))));
    }

    /// What was sent of it, and one for the end of the guest's stream where the recorded one ended, too.
    private long sentOf(HttpExchange now) {
        return sent.count() + (finished && now.isLast() ? 1 : 0);
    }

    @Override
    public byte[] read(long at, int max) {
        HttpExchange now = current;
        if (now == null || at < answersBefore) {
            throw new IndexOutOfBoundsException("octet " + at + " was acknowledged");
        }
        byte[] octets = now.answer().read(at - answersBefore, max);
        answers = Math.max(answers, at + octets.length);
        note();
        return octets;
    }

    /// Where the recorded connection ended, it is ended as it was then; where the guest goes another way than it did,
    /// in order.
    @Override
    public End end() {
        HttpExchange now = current;
        boolean all = now == null
                || asked && released() == answersBefore + now.answer().length();
        if (!all) {
            return End.NONE;
        }
        if (now != null && now.isLast()) {
            End how = now.connection().endFor(now.request().from() + sentOf(now));
            return how == End.FIN && !shelf.mayEnd(now) ? End.NONE : how;
        }
        return finished ? End.FIN : End.NONE;
    }

    @Override
    public void ended() {
        HttpExchange now = current;
        if (now != null && now.isLast()) {
            shelf.end(now);
        }
    }

    @Override
    public void acknowledge(long octets) {
        shelf.hear();
        acknowledged = octets;
        note();
    }

    /// Notes it if all of the answer was sent, and if the guest has it.
    private void note() {
        HttpExchange now = current;
        if (now == null || !asked) {
            return;
        }
        if (!begun && answers > answersBefore) {
            begun = true;
            shelf.begin(now);
        }
        if (!now.isWhole() || sent.count() < now.request().length()) {
            return;
        }
        long end = answersBefore + now.answer().length();
        if (!answered && answers >= end) {
            answered = true;
            shelf.answer(now);
        }
        if (!delivered && acknowledged >= end) {
            delivered = true;
            shelf.deliver();
        }
    }

    /// A request that is not whole has reached its peer all the same.
    @Override
    public @Nullable Miss close() {
        HttpExchange now = current;
        shelf.hear();
        shelf.release(this);
        if (now != null && now.isLast()) {
            shelf.end(now);
            shelf.leave(now);
        }
        GuestRequest another = other;
        if (!over && another != null) {
            over = true;
            return missOf(another);
        }
        if (over || now == null || delivered) {
            return null;
        }
        over = true;
        if (sent.count() < now.request().length()) {
            return miss(now, sent.count(), NOTHING);
        }
        if (!asked) {
            return sent.miss(now.request(), sent.count(), NOTHING, EARLY);
        }
        shelf.cut(now);
        return null;
    }
}
