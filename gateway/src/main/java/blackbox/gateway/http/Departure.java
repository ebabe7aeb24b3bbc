package blackbox.gateway.http;

import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Passage.Hold;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
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
    private byte @Nullable [] heldHead;

    Departure(Exchange exchange, GuestTcpChannel guest, UpstreamLink to, Route route) {
        this.exchange = exchange;
        this.guest = guest;
        this.to = to;
        this.route = route;
        this.passage = exchange.passage();
    }

    /// Whether the other side hears nothing before the request is whole.
    boolean holdsAll() {
        return passage.holds() == Hold.ALL;
    }

    /// Its head; takes ownership of it.
    @Nullable
    Ruling head(byte[] head) {
        if (holdsAll()) {
            heldHead = head;
            return null;
        }
        return writeHead(head);
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
        if (passage.holds() == Hold.NOTHING) {
            return write(data);
        }
        for (ByteBuffer part : data.nioBuffers()) {
            Ruling stop = exchange.asked(passage.body(part));
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
        Verdict denied = Verdict.deny(
                null, "its body must be read whole and has more than " + Passage.HELD_BYTES_MAX + " octets");
        return new Ruling(denied, null, null, FORBIDDEN, null);
    }

    /// Its end.
    @Nullable
    Ruling end(Fields trailer) {
        Ruling stop = passage.holds() == Hold.NOTHING ? null : exchange.asked(passage.whole());
        byte[] head = heldHead;
        heldHead = null;
        if (stop == null && head != null) {
            stop = writeHead(head);
        }
        if (stop == null && held.isReadable()) {
            ByteBuf rest = held;
            held = Unpooled.EMPTY_BUFFER;
            stop = write(taken(rest));
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

    private @Nullable Ruling write(ByteBuf data) {
        int count = data.readableBytes();
        Ruling stop = exchange.asked(passage.sends(count));
        if (stop != null) {
            data.release();
            return stop;
        }
        exchange.sending(data);
        boolean chunked = exchange.request().framing().is(Kind.CHUNKED);
        guest.hold(count);
        to.write(chunked ? HttpWriter.chunk(to.channel().alloc(), data) : data).addListener(_ -> guest.hold(-count));
        return null;
    }

    /// Drops what is held back.
    void drop() {
        byte[] head = heldHead;
        heldHead = null;
        if (head != null) {
            Arrays.fill(head, (byte) 0);
        }
        ByteBuf rest = held;
        held = Unpooled.EMPTY_BUFFER;
        taken(rest).release();
    }
}
