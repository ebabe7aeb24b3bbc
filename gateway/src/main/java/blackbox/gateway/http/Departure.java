package blackbox.gateway.http;

import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Passage.Hold;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.secret.FilledBody;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What of one request leaves, and when: as far as its passage lets it. Each step returns the ruling that stops it, or
/// null; what was held back then does not leave. Owned by the loop.
final class Departure {
    private static final int FORBIDDEN = 403;

    private final Exchange exchange;
    private final GuestTcpChannel guest;
    private final UpstreamLink to;
    private final Route route;
    private final Passage passage;
    private ByteBuf held = Unpooled.EMPTY_BUFFER;
    private @Nullable Heading heldHead;

    /// Writes the head of what leaves. There may be secrets in it: whoever sends it clears it then.
    @FunctionalInterface
    interface Heading {
        byte[] of(Framing framing);
    }

    Departure(Exchange exchange, GuestTcpChannel guest, UpstreamLink to, Route route) {
        this.exchange = exchange;
        this.guest = guest;
        this.to = to;
        this.route = route;
        this.passage = exchange.passage();
    }

    /// Whether the other side hears nothing before the request is whole.
    boolean holdsAll() {
        return passage.holds() == Hold.ALL || exchange.secrets().fillsBody();
    }

    /// Its head.
    @Nullable
    Ruling head(Heading head) {
        if (holdsAll()) {
            heldHead = head;
            return null;
        }
        return writeHead(head.of(exchange.request().framing()));
    }

    private @Nullable Ruling writeHead(byte[] head) {
        Ruling stop = exchange.asked(passage.sends(head.length));
        if (stop == null) {
            to.writeHead(head, route);
        } else {
            Arrays.fill(head, (byte) 0);
        }
        return stop;
    }

    /// A piece of its body; takes ownership of it.
    @Nullable
    Ruling body(ByteBuf data) {
        boolean reads = passage.holds() != Hold.NOTHING;
        if (!reads && !holdsAll()) {
            return write(data);
        }
        for (ByteBuffer part : data.nioBuffers()) {
            Ruling stop = reads ? exchange.asked(passage.body(part)) : null;
            if (stop != null) {
                data.release();
                return stop;
            }
        }
        ByteBuf before = held;
        guest.hold(data.readableBytes());
        if (!holdsAll()) {
            held = data;
            return before.isReadable() ? write(taken(before)) : null;
        }
        held = before.isReadable() ? before : guest.alloc().buffer();
        held.writeBytes(data); // each piece by itself could be an octet in a buffer of its own
        data.release();
        return held.readableBytes() > Passage.HELD_BYTES_MAX ? exchange.asked(tooLong()) : null;
    }

    /// What was held back until now.
    private ByteBuf taken(ByteBuf octets) {
        guest.hold(-octets.readableBytes());
        return octets;
    }

    private static Ruling tooLong() {
        return denied("its body must be read whole and has more than " + Passage.HELD_BYTES_MAX + " octets");
    }

    private static Ruling denied(String why) {
        return new Ruling(Verdict.deny(null, why), null, null, FORBIDDEN, null);
    }

    /// Its end.
    @Nullable
    Ruling end(Fields trailer) {
        Ruling stop = passage.holds() == Hold.NOTHING ? null : exchange.asked(passage.whole());
        Heading head = heldHead;
        heldHead = null;
        boolean fills = exchange.secrets().fillsBody();
        byte[] filled = null;
        if (stop == null && fills) {
            try {
                filled = exchange.secrets().fill(ByteBufUtil.getBytes(held));
            } catch (FilledBody.Unreadable e) {
                stop = exchange.asked(denied("a secret goes into its body, and " + e.getMessage()));
            }
        }
        if (stop == null && head != null) {
            stop = writeHead(head.of(framing(filled)));
        }
        if (stop != null) {
            clear(filled);
        } else if (held.isReadable()) {
            ByteBuf rest = held;
            held = Unpooled.EMPTY_BUFFER;
            stop = write(taken(rest), filled);
        }
        if (stop == null && fills) {
            exchange.secrets().leaves(filled != null);
        }
        if (stop != null || !exchange.request().framing().is(Kind.CHUNKED)) {
            return stop;
        }
        stop = exchange.asked(passage.sends(trailer.octets()));
        if (stop == null) {
            var unused = to.write(HttpWriter.lastChunk(to.channel().alloc(), trailer));
        }
        return stop;
    }

    private Framing framing(byte @Nullable [] filled) {
        Framing own = exchange.request().framing();
        return filled == null || !own.is(Kind.LENGTH) ? own : new Framing(Kind.LENGTH, filled.length);
    }

    private @Nullable Ruling write(ByteBuf data) {
        return write(data, null);
    }

    /// @param filled what leaves in place of it, cleared then; null for itself
    private @Nullable Ruling write(ByteBuf data, byte @Nullable [] filled) {
        int count = filled == null ? data.readableBytes() : filled.length;
        Ruling stop = exchange.asked(passage.sends(count));
        if (stop != null) {
            data.release();
            clear(filled);
            return stop;
        }
        exchange.sending(data);
        ByteBuf leaves = data;
        if (filled != null) {
            data.release();
            leaves = Unpooled.wrappedBuffer(filled);
        }
        boolean chunked = exchange.request().framing().is(Kind.CHUNKED);
        guest.hold(count);
        to.write(chunked ? HttpWriter.chunk(to.channel().alloc(), leaves) : leaves)
                .addListener(_ -> {
                    guest.hold(-count);
                    clear(filled);
                });
        return null;
    }

    private static void clear(byte @Nullable [] filled) {
        if (filled != null) {
            Arrays.fill(filled, (byte) 0);
        }
    }

    /// Drops what is held back.
    void drop() {
        heldHead = null;
        ByteBuf rest = held;
        held = Unpooled.EMPTY_BUFFER;
        taken(rest).release();
    }
}
