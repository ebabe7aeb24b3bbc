package blackbox.replay.cassette;

import blackbox.replay.cassette.RecordedConnection.End;
import org.jspecify.annotations.Nullable;

/// What the recording says on one of the guest's connections: which octets may be sent when. Places count from the
/// connection's first octet in each direction. Owned by one thread.
interface Conversation {

    /// Takes the guest's next octets, at least one; returns what is wrong with them, or null.
    @Nullable
    Miss take(byte[] octets);

    /// Goes on where it had to wait for other conversations; returns what is wrong if it waited in vain, or null.
    default @Nullable Miss resume() {
        return null;
    }

    /// Notes how many octets of the answer the guest has acknowledged.
    void acknowledge(long octets);

    /// Takes the guest's end of its stream; returns what is wrong with that, or null.
    @Nullable
    Miss finish();

    /// How much the guest has sent, plus one for its end.
    long received();

    /// How many octets may be sent so far.
    long released();

    /// At least one and at most `max` of these from `at` on. What the guest has acknowledged can no longer be read once
    /// it has sent more.
    byte[] read(long at, int max);

    /// How the remote side ends it once all of [#released] was sent.
    End end();

    /// Notes that it was told that the remote side ends it.
    default void ended() {}

    /// Whether all that was recorded was said and heard; where others answer for it, true.
    default boolean isWhole() {
        return true;
    }

    /// Gives up the hold on the recording; returns what is wrong with an end at this point, or null.
    @Nullable
    Miss close();
}
