package blackbox.replay.cassette;

import blackbox.replay.cassette.RecordedConnection.End;
import blackbox.schemas.event.Endpoint;
import org.jspecify.annotations.Nullable;

/// One guest connection's hold on the recording: it gets the first unused recorded connection to the same
/// endpoint whose request begins with what the guest sends. The choice is final once an answer has been
/// given.
final class Claim implements Conversation {
    private static final byte[] NOTHING = new byte[0];

    private final ConnectionMatcher matcher;
    private final Endpoint remote;
    private final RequestOctets sent;
    private @Nullable RecordedConnection candidate;
    private boolean chosen;
    private long acknowledged;
    private boolean over;
    private boolean finished;

    Claim(ConnectionMatcher matcher, Endpoint remote) {
        this.matcher = matcher;
        this.remote = remote;
        this.sent = new RequestOctets(remote);
        matcher.await(remote);
        this.candidate = matcher.find(remote, null, 0, NOTHING);
        choose();
    }

    @Override
    public @Nullable Miss take(byte[] octets) {
        long received = sent.count();
        RecordedConnection best = candidate;
        if (chosen && best != null) {
            int same = best.request().whole().mismatch(received, octets);
            if (same < octets.length) {
                return miss(best, received + same, octets);
            }
        } else {
            candidate = matcher.find(remote, best, received, octets);
            if (candidate == null) {
                long same = best == null ? 0 : best.request().whole().mismatch(received, octets);
                return miss(best, received + same, octets);
            }
        }
        sent.take(octets);
        choose();
        return null;
    }

    @Override
    public void acknowledge(long octets) {
        acknowledged = octets;
    }

    @Override
    public boolean isWhole() {
        RecordedConnection mine = candidate;
        return mine != null
                && sent.count() == mine.request().length()
                && acknowledged >= mine.response().length();
    }

    @Override
    public @Nullable Miss finish() {
        long received = sent.count();
        finished = true;
        RecordedConnection mine = candidate;
        if (!chosen) {
            mine = matcher.find(remote, candidate, received, NOTHING);
            candidate = mine == null ? candidate : mine;
        }
        if (mine == null || mine.request().length() != received) {
            return miss(candidate, received, NOTHING);
        }
        choose();
        return null;
    }

    @Override
    public long received() {
        return sent.count() + (finished ? 1 : 0);
    }

    @Override
    public long released() {
        RecordedConnection mine = candidate;
        return chosen && mine != null ? mine.released(received()) : 0;
    }

    @Override
    public byte[] read(long at, int max) {
        RecordedConnection mine = candidate;
        if (mine == null) {
            throw new IndexOutOfBoundsException("nothing is released");
        }
        return mine.response().read(at, max);
    }

    @Override
    public End end() {
        RecordedConnection mine = candidate;
        return chosen && mine != null ? mine.endFor(received()) : End.NONE;
    }

    /// A recorded connection that was never answered is then used up.
    @Override
    public @Nullable Miss close() {
        if (over) {
            return null;
        }
        over = true;
        if (!chosen) {
            matcher.awaitNoMore(remote);
            RecordedConnection silent = candidate;
            if (silent != null && sent.count() > 0 && silent.request().length() == sent.count()) {
                matcher.use(silent);
            }
        }
        return null;
    }

    private void choose() {
        RecordedConnection mine = candidate;
        if (chosen || mine == null || mine.needsFirst() > received()) {
            return;
        }
        if (!matcher.isUnused(mine)) {
            mine = matcher.find(remote, mine, sent.count(), NOTHING);
            if (mine == null || mine.needsFirst() > received()) {
                return;
            }
            candidate = mine;
        }
        chosen = true;
        matcher.awaitNoMore(remote);
        matcher.use(mine);
    }

    private Miss miss(@Nullable RecordedConnection nearest, long at, byte[] more) {
        return sent.miss(nearest == null ? null : nearest.request().whole(), at, more);
    }
}
