package blackbox.gateway.egress;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// What passes under one rule, in one exchange of HTTP or on one connection of something else: it may be counted, read
/// and stopped. Nothing passes before it was asked. Called on the gateway's loop; while it throws, nothing passes.
///
/// A question is answered with null if there is nothing to say, or with a ruling: one that does not go on stops the
/// passage for good, any other is only told.
public interface Passage {

    /// One that nothing is asked of.
    Passage FREE = new Passage() {};

    /// What is held back of a request's body, until [#whole] was asked.
    enum Hold {
        NOTHING,
        /// Its last piece: the rest of it makes no request yet.
        END,
        /// All of it, and its head, so that the other side hears nothing. It may have [#HELD_BYTES_MAX] octets.
        ALL
    }

    /// The longest body that is held back whole.
    int HELD_BYTES_MAX = 1 << 20;

    /// How much of the request's body is held back.
    default Hold holds() {
        return Hold.NOTHING;
    }

    /// It is about to begin. Asked once, before anything else.
    default @Nullable Ruling begins() {
        return null;
    }

    /// So many more octets are about to leave. Of HTTP those of heads, bodies and trailers as they are
    /// forwarded, without what frames a body.
    default @Nullable Ruling sends(long octets) {
        return null;
    }

    /// So many more octets are about to go to the guest, counted likewise.
    default @Nullable Ruling receives(long octets) {
        return null;
    }

    /// The next piece of a body of which something is held back, without its transfer coding.
    default @Nullable Ruling body(ByteBuffer piece) {
        return null;
    }

    /// The body of which something is held back is whole.
    default @Nullable Ruling whole() {
        return null;
    }

    /// Nothing more is asked. Called once if it has begun, after the exchange was told of.
    default void over() {}
}
