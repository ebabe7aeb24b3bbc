package blackbox.replay.cassette;

import blackbox.replay.cassette.HttpReader.Body;
import blackbox.replay.cassette.HttpReader.NoMessage;
import java.util.Arrays;

/// A guest's request of HTTP/1.1 that equals no recorded one, kept until it is whole. Owned by one thread.
final class GuestRequest implements HttpReader.Source {
    /// The longest that is kept: a model is sent a whole conversation again each time.
    static final int OCTETS_MAX = 16 << 20;

    private byte[] octets;
    private int count;

    /// How far a request is.
    enum State {
        /// More is to come.
        PART,
        /// This is all of it, and nothing else.
        WHOLE,
        /// It is none, or longer than [#OCTETS_MAX], or something follows it.
        OTHER
    }

    /// @param begun its first octets
    GuestRequest(byte[] begun) {
        this.octets = begun.clone();
        this.count = begun.length;
    }

    State add(byte[] more) {
        if (more.length > OCTETS_MAX - count) {
            return State.OTHER;
        }
        if (count + more.length > octets.length) {
            octets = Arrays.copyOf(octets, Math.max(2 * octets.length, count + more.length));
        }
        System.arraycopy(more, 0, octets, count, more.length);
        count += more.length;
        return state();
    }

    private State state() {
        var reader = new HttpReader(this);
        try {
            Body body = HttpReader.body(reader.head());
            if (body != null) {
                reader.pass(body);
            }
            return reader.isAtEnd() ? State.WHOLE : State.OTHER;
        } catch (NoMessage e) {
            return e.isCut() ? State.PART : State.OTHER;
        }
    }

    byte[] toBytes() {
        return Arrays.copyOf(octets, count);
    }

    @Override
    public long length() {
        return count;
    }

    @Override
    public byte[] read(long at, int max) {
        return Arrays.copyOfRange(octets, (int) at, (int) Math.min(count, at + max));
    }
}
