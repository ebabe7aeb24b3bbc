package blackbox.replay.cassette;

import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.request.Difference;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.schemas.event.Endpoint;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What a guest has sent of a request, as far as it takes to say how it differs from a recorded one.
final class RequestOctets {
    private static final byte[] NOTHING = new byte[0];
    private static final int TLS_HANDSHAKE = 22;

    private final Endpoint remote;
    private final MessageDigest actual = Sha256.digest();
    private byte[] before = NOTHING;
    private long count;

    RequestOctets(Endpoint remote) {
        this.remote = remote;
    }

    /// How many octets agreed.
    long count() {
        return count;
    }

    /// Takes octets, which agree with a recorded request or will be missed.
    void take(byte[] octets) {
        actual.update(octets);
        int old = Math.clamp(Difference.BEFORE_MAX - (long) octets.length, 0, before.length);
        int now = Math.min(Difference.BEFORE_MAX, octets.length);
        byte[] last = Arrays.copyOfRange(before, before.length - old, before.length + now);
        System.arraycopy(octets, octets.length - now, last, old, now);
        before = last;
        count += octets.length;
    }

    /// That the recording has no answer to these octets and `more`.
    ///
    /// @param nearest the recorded request that is the most like it, or null
    /// @param at the first octet that differs, in `more` or right behind what came before
    Miss miss(@Nullable StreamSlice nearest, long at, byte[] more) {
        return miss(nearest, at, more, nearest == null ? "every recorded connection is used" : why(nearest, at, more));
    }

    /// The same, for a reason of the caller's.
    Miss miss(@Nullable StreamSlice nearest, long at, byte[] more, String why) {
        Difference shown = difference(nearest, at, more);
        actual.update(more);
        var got = new Content(Hash.copyOf(actual.digest(), 0), count + more.length);
        Content wanted = null;
        if (nearest != null) {
            MessageDigest digest = Sha256.digest();
            nearest.digest(digest);
            wanted = new Content(Hash.copyOf(digest.digest(), 0), nearest.length());
        }
        return new Miss(Kind.REQUEST, "tcp", remote, why, wanted, got, shown);
    }

    /// The octets around the difference.
    private Difference difference(@Nullable StreamSlice request, long at, byte[] more) {
        long from = Math.max(0, at - Difference.BEFORE_MAX);
        var recorded = new StringBuilder();
        while (request != null
                && from + recorded.length() < request.length()
                && recorded.length() < Difference.SHOWN_MAX) {
            recorded.append(text(request.read(from + recorded.length(), Difference.SHOWN_MAX - recorded.length())));
        }
        String came = text(before) + text(more);
        int skipped = (int) (from - (count - before.length));
        String replayed = came.substring(skipped, Math.min(came.length(), skipped + Difference.SHOWN_MAX));
        return new Difference(at, from, recorded.toString(), replayed);
    }

    private static String text(byte[] octets) {
        return new String(octets, StandardCharsets.ISO_8859_1);
    }

    private static String why(StreamSlice nearest, long difference, byte[] more) {
        if (nearest.length() > 0 && nearest.read(0, 1)[0] == TLS_HANDSHAKE) {
            return "TLS: its handshake differs in every execution, so what was recorded cannot be played to it";
        }
        if (difference == nearest.length()) {
            return "the recorded request ended here";
        }
        return more.length == 0 ? "the recorded request continues" : "the request differs from the recorded one";
    }
}
