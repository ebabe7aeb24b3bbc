package blackbox.gateway.http;

import blackbox.gateway.http.Framing.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;

/// Writes answers as the guest is sent them: framed for it, and without what it may not see. What passes is told to the
/// exchange.
final class GuestAnswers {
    private final ByteBufAllocator allocator;

    GuestAnswers(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /// An interim answer; empty if the guest is not sent it.
    ByteBuf interim(Exchange now, UpstreamAnswer answer) throws HttpFault {
        boolean passed = now.request().version() == HttpVersion.HTTP_1_1
                && answer.status() != 100; // 100 was the gateway's to say
        return passed
                ? HttpWriter.answer(allocator, now.secrets().scrub(answer), Framing.NONE, false)
                : Unpooled.EMPTY_BUFFER;
    }

    /// An answer's head, with which the kind of its body is decided.
    ///
    /// @param last whether the guest's connection ends with it
    ByteBuf head(Exchange now, UpstreamAnswer answer, boolean last) throws HttpFault {
        UpstreamAnswer seen = now.secrets().scrub(answer);
        Framing framing = answer.framing();
        boolean unknown = framing.is(Kind.CHUNKED)
                || framing.is(Kind.UNTIL_CLOSE)
                || framing.is(Kind.LENGTH) && now.secrets().scrubs();
        Framing towards = !unknown
                ? framing
                : now.request().version() == HttpVersion.HTTP_1_1 ? Framing.CHUNKED : Framing.UNTIL_CLOSE;
        now.answer = towards;
        now.answering(seen.status(), seen.fields());
        return HttpWriter.answer(allocator, seen, towards, last);
    }

    /// A piece of its body; takes ownership of it.
    ByteBuf body(Exchange now, ByteBuf octets) {
        return piece(now, now.secrets().scrub(octets));
    }

    private ByteBuf piece(Exchange now, ByteBuf seen) {
        if (!seen.isReadable()) {
            return seen; // an empty chunk would be the last
        }
        now.answering(seen);
        return now.answersIn(Kind.CHUNKED) ? HttpWriter.chunk(allocator, seen) : seen;
    }

    /// Its end.
    ByteBuf end(Exchange now, Fields trailer) {
        ByteBuf rest = piece(now, now.secrets().rest());
        return now.answersIn(Kind.CHUNKED)
                ? Unpooled.wrappedBuffer(
                        rest, HttpWriter.lastChunk(allocator, now.secrets().scrub(trailer)))
                : rest;
    }
}
