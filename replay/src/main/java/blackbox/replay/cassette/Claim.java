package blackbox.replay.cassette;

import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.schemas.event.Endpoint;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One guest connection's hold on the recording: it gets the first unused recorded connection to the same
/// endpoint whose request begins with what the guest sends. The choice is final once an answer has been
/// given.
final class Claim {
    private static final byte[] NOTHING = new byte[0];
    private static final int TLS_HANDSHAKE = 22;

    private final ConnectionMatcher matcher;
    private final Endpoint remote;
    private final MessageDigest actual = Sha256.digest();
    private @Nullable RecordedConnection candidate;
    private byte[] before = NOTHING;
    private boolean chosen;
    private boolean over;
    private long received;
    private boolean finished;

    Claim(ConnectionMatcher matcher, Endpoint remote) {
        this.matcher = matcher;
        this.remote = remote;
        matcher.await(remote);
        this.candidate = matcher.find(remote, null, 0, NOTHING);
        choose();
    }

    /// Takes the guest's next octets; returns what is wrong with them, or null.
    @Nullable
    Miss take(byte[] octets) {
        actual.update(octets);
        RecordedConnection best = candidate;
        if (chosen && best != null) {
            int same = best.request().mismatch(received, octets);
            if (same < octets.length) {
                return miss(best, received + same, octets);
            }
        } else {
            candidate = matcher.find(remote, best, received, octets);
            if (candidate == null) {
                long same = best == null ? 0 : best.request().mismatch(received, octets);
                return miss(best, received + same, octets);
            }
        }
        received += octets.length;
        before = lastOf(before, octets);
        choose();
        return null;
    }

    /// Takes the guest's end of its stream; returns what is wrong with that, or null.
    @Nullable
    Miss finish() {
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

    /// The recorded connection, once it is certain.
    @Nullable
    RecordedConnection recorded() {
        return chosen ? candidate : null;
    }

    /// How much the guest has sent, plus one for its end.
    long received() {
        return received + (finished ? 1 : 0);
    }

    /// Gives up the place among the waiting claims; a recorded connection that was never answered is then
    /// used up.
    void close() {
        if (over) {
            return;
        }
        over = true;
        if (!chosen) {
            matcher.awaitNoMore(remote);
            RecordedConnection silent = candidate;
            if (silent != null && received > 0 && silent.request().length() == received) {
                matcher.use(silent);
            }
        }
    }

    private void choose() {
        RecordedConnection mine = candidate;
        if (chosen || mine == null || mine.needsFirst() > received()) {
            return;
        }
        if (!matcher.isUnused(mine)) {
            mine = matcher.find(remote, mine, received, NOTHING);
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
        var got = new Content(Hash.copyOf(actual.digest(), 0), received + more.length);
        if (nearest == null) {
            return new Miss(
                    Kind.REQUEST,
                    "tcp",
                    remote,
                    "every recorded connection is used",
                    null,
                    got,
                    difference(null, at, more));
        }
        MessageDigest digest = Sha256.digest();
        nearest.request().digest(digest);
        var wanted =
                new Content(Hash.copyOf(digest.digest(), 0), nearest.request().length());
        return new Miss(
                Kind.REQUEST,
                "tcp",
                remote,
                why(nearest, at, more.length),
                wanted,
                got,
                difference(nearest.request(), at, more));
    }

    /// The octets around the difference, which is in `more` or directly after what came before.
    private Difference difference(@Nullable RecordedStream request, long at, byte[] more) {
        long from = Math.max(0, at - Difference.BEFORE_MAX);
        var recorded = new StringBuilder();
        while (request != null
                && from + recorded.length() < request.length()
                && recorded.length() < Difference.SHOWN_MAX) {
            recorded.append(text(request.read(from + recorded.length(), Difference.SHOWN_MAX - recorded.length())));
        }
        String came = text(before) + text(more);
        int skipped = (int) (from - (received - before.length));
        String replayed = came.substring(skipped, Math.min(came.length(), skipped + Difference.SHOWN_MAX));
        return new Difference(at, from, recorded.toString(), replayed);
    }

    private static String text(byte[] octets) {
        return new String(octets, StandardCharsets.ISO_8859_1);
    }

    private static byte[] lastOf(byte[] before, byte[] more) {
        int old = Math.clamp(Difference.BEFORE_MAX - (long) more.length, 0, before.length);
        int now = Math.min(Difference.BEFORE_MAX, more.length);
        byte[] last = Arrays.copyOfRange(before, before.length - old, before.length + now);
        System.arraycopy(more, more.length - now, last, old, now);
        return last;
    }

    private static String why(RecordedConnection nearest, long difference, int more) {
        RecordedStream request = nearest.request();
        if (request.length() > 0 && request.read(0, 1)[0] == TLS_HANDSHAKE) {
            return "TLS: its handshake differs in every execution, so what was recorded cannot be played to it";
        }
        if (difference == request.length()) {
            return "the recorded request ended here";
        }
        return more == 0 ? "the recorded request continues" : "the request differs from the recorded one";
    }
}
