package blackbox.gateway.http;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// One request in HTTP/2, and its answer: a stream of the guest's and, once it is allowed, one to the other side. Each
/// piece of a body opens the window that it came through when it is written on the other. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written is told by the stream or the connection
final class Http2Exchange {
    private static final int MISDIRECTED = 421;
    private static final String OTHER_SECRET =
            "this connection's requests carry another secret, or none; a new connection to the same name may carry it";
    private static final String OTHER_UPSTREAM =
            ", but to another upstream than this connection's; have the client speak HTTP/1.1, or give all rules of"
                    + " this name the same";
    private static final int BAD_GATEWAY = 502;
    private static final int FORBIDDEN = 403;
    private static final String ONLY_HTTP_1 =
            ", but budgets, tools of MCP servers and secrets in bodies go over HTTP/1.1 only; have the client speak that";
    private static final long UNKNOWN = -1;

    private final Http2Session session;
    private final Http2FrameStream guestStream;
    private final Exchange exchange;
    private int headOctets;
    private final ArrayDeque<Part> waiting = new ArrayDeque<>();
    private @Nullable Http2FrameStream upstreamStream;
    /// The codec compares lengths, but for answers without a body.
    private long answerLeft = UNKNOWN;

    private int waitingOctets;
    private boolean requestWhole;
    private boolean over;

    private sealed interface Part {}

    private record Data(ByteBuf octets, int credit, boolean last) implements Part {}

    private record Trailer(Fields fields) implements Part {}

    /// @param headOctets how much of memory the head of the request counts for
    /// @param number counted from 0 in its connection
    Http2Exchange(
            Http2Session session, Http2FrameStream guestStream, GuestRequest request, int headOctets, long number) {
        this.headOctets = headOctets;
        this.session = session;
        this.guestStream = guestStream;
        this.exchange = new Exchange(session.peer(), request, number);
        this.requestWhole = request.framing().is(Kind.NONE);
    }

    int headOctets() {
        return headOctets;
    }

    /// How much of the guest's window its body holds while it waits.
    int waitingOctets() {
        return waitingOctets;
    }

    void judge() {
        HttpPeer peer = session.peer();
        peer.judge()
                .request(peer.destination(), peer.serverName(), exchange.judged())
                .thenAccept(verdict -> decided(unfilled(
                        exchange.secrets().check(uncounted(exchange.request().served(verdict))))));
    }

    /// What was decided; but no secret goes into a body this way.
    private RequestVerdict unfilled(RequestVerdict given) {
        return given.verdict().allowed() && exchange.secrets().fillsBody() ? onlyHttp1(given) : given;
    }

    /// What was decided; but what its passage would have to count, hold back or read does not go this way.
    private static RequestVerdict uncounted(RequestVerdict given) {
        Verdict verdict = given.verdict();
        return !verdict.allowed() || Passage.FREE.equals(given.passage()) ? given : onlyHttp1(given);
    }

    private static RequestVerdict onlyHttp1(RequestVerdict given) {
        Verdict denied = Verdict.deny(null, given.verdict().reason() + ONLY_HTTP_1);
        return new RequestVerdict(denied, given.target(), FORBIDDEN);
    }

    private void decided(RequestVerdict given) {
        if (over) {
            exchange.decided(given); // the guest has left it, which was told
            return;
        }
        Route route = Route.of(
                given.verdict(),
                session.peer().destination(),
                exchange.secrets().put());
        boolean stays = !given.verdict().allowed() || session.takes(route);
        RequestVerdict kept = stays ? given : misdirected(given, session.leadsTo(route));
        exchange.decided(kept);
        if (kept.verdict().allowed()) {
            session.forward(this);
            return;
        }
        refuse(Exchange.refusal(kept), kept.verdict().reason(), kept.verdict().rule(), How.REFUSED);
        if (!stays && session.leadsTo(route)) {
            session.turnAway();
        }
    }

    /// What does not go over this connection.
    private static RequestVerdict misdirected(RequestVerdict given, boolean sameUpstream) {
        String why = sameUpstream ? OTHER_SECRET : given.verdict().reason() + OTHER_UPSTREAM;
        return new RequestVerdict(Verdict.deny(null, why), given.target(), MISDIRECTED);
    }

    /// Sends it to the other side, which takes one more; or does not: then the guest may send it again.
    void forward() {
        if (over) {
            return; // it was refused while it waited
        }
        if (!session.takesStreams()) {
            end(How.BROKEN_BY_UPSTREAM);
            session.guest().reset(guestStream, Http2Error.REFUSED_STREAM.code());
            return;
        }
        GuestRequest request = exchange.request();
        Http2Heads.Written head = Http2Heads.request(
                exchange.secrets().leaving(exchange.target(), null),
                request.canonicalAuthority(session.peer().schemePort()));
        Http2FrameStream stream = session.open(this);
        upstreamStream = stream;
        boolean whole = requestWhole && waiting.isEmpty();
        session.upstream().head(stream, head, whole).addListener(done -> {
            head.clear();
            if (!done.isSuccess()) {
                session.forget(stream);
                upstreamLeft(Http2Error.REFUSED_STREAM);
            }
        });
        if (request.expectsContinue() && !requestWhole && waiting.isEmpty()) {
            session.guest().head(guestStream, Http2Heads.goOn(), false);
        }
        for (Part part = waiting.poll(); part != null; part = waiting.poll()) {
            forward(stream, part);
        }
    }

    // What the guest sends.

    /// @param frame of which it takes ownership
    void data(Http2DataFrame frame) {
        ByteBuf octets = frame.content();
        int credit = frame.initialFlowControlledBytes();
        int length = octets.readableBytes();
        boolean last = frame.isEndStream();
        if (over || length == 0 && !last) {
            octets.release();
            session.guest().credit(guestStream, credit);
            return;
        }
        requestWhole = last;
        add(new Data(octets, credit, last));
    }

    /// Another head than the first.
    void head(Http2HeadersFrame frame) {
        if (over) {
            return;
        }
        try {
            if (!frame.isEndStream()) {
                throw HttpFault.bad("it has a head after its head");
            }
            Fields trailer = Http2Heads.trailer(frame.headers());
            int octets = Http2Heads.octets(frame.headers());
            if (!session.keepsHead(octets)) {
                throw HttpFault.bad("with its trailer, the heads of requests at once have more than 512 KiB");
            }
            headOctets += octets;
            requestWhole = true;
            add(new Trailer(trailer));
        } catch (HttpFault fault) {
            malformed(fault);
        }
    }

    private void add(Part part) {
        Http2FrameStream stream = upstreamStream;
        if (stream == null) {
            waiting.add(part);
            waitingOctets += part instanceof Data data ? data.credit : 0;
            session.limitQueued(this);
        } else {
            forward(stream, part);
        }
    }

    private void forward(Http2FrameStream stream, Part part) {
        switch (part) {
            case Data data -> {
                exchange.sending(data.octets);
                session.upstream()
                        .data(stream, data.octets, data.last)
                        .addListener(_ -> session.guest().credit(guestStream, data.credit));
            }
            case Trailer trailer -> trailer(session.upstream(), stream, trailer.fields);
        }
    }

    /// The end of a body.
    private static ChannelFuture trailer(Http2Side to, Http2FrameStream stream, Fields fields) {
        return fields.all().isEmpty()
                ? to.data(stream, Unpooled.EMPTY_BUFFER, true)
                : to.head(stream, Http2Heads.trailer(fields), true);
    }

    /// Lets the guest send it again: nothing of it has been sent on.
    void giveBack() {
        end(How.REFUSED);
        session.guest().reset(guestStream, Http2Error.REFUSED_STREAM.code());
    }

    private void malformed(HttpFault fault) {
        HttpPeer peer = session.peer();
        peer.findings().found(Finding.MALFORMED_HTTP, peer.destination().text() + ": " + fault.text());
        if (exchange.isAnswered()) {
            end(How.BROKEN_BY_GUEST);
            session.guest().reset(guestStream, Http2Error.PROTOCOL_ERROR.code());
        } else {
            refuse(fault.status(), "the request is refused: " + fault.text(), null, How.BROKEN_BY_GUEST);
        }
        resetUpstream(Http2Error.CANCEL.code());
    }

    /// The guest wants no more of it.
    void guestLeft(long code) {
        if (!over) {
            end(How.BROKEN_BY_GUEST);
            resetUpstream(code);
        }
    }

    private void resetUpstream(long code) {
        Http2FrameStream stream = upstreamStream;
        if (stream != null) {
            session.upstream().reset(stream, code);
        }
    }

    // What the other side answers.

    void answerHead(Http2HeadersFrame frame) {
        if (over) {
            return;
        }
        try {
            if (!exchange.isAnswered()) {
                answer(
                        Http2Heads.answer(
                                frame.headers(),
                                frame.isEndStream(),
                                exchange.judged().method()),
                        frame.isEndStream());
            } else if (!frame.isEndStream()) {
                throw HttpFault.bad("it sends a head after its head");
            } else if (answerLeft > 0) {
                throw HttpFault.bad("its body is shorter than its Content-Length");
            } else {
                answerEnd(Http2Heads.trailer(frame.headers()));
            }
        } catch (HttpFault fault) {
            upstreamBroke(fault.text());
        }
    }

    private void answer(UpstreamAnswer answer, boolean whole) throws HttpFault {
        UpstreamAnswer seen = exchange.secrets().scrub(answer);
        if (answer.isInterim()) {
            if (answer.status() != 100) { // that was the gateway's to say
                toGuest(Http2Heads.answer(seen, false), false);
            }
            return;
        }
        answerLeft =
                answer.framing().is(Kind.CHUNKED) ? UNKNOWN : answer.framing().length();
        exchange.answering(seen.status(), seen.fields());
        boolean lengthHolds =
                answer.framing().is(Kind.NONE) || !exchange.secrets().scrubs();
        ChannelFuture written = toGuest(Http2Heads.answer(seen, lengthHolds), whole);
        if (whole) {
            answered(written);
        }
    }

    private ChannelFuture toGuest(Http2Heads.Written head, boolean last) {
        return session.guest().head(guestStream, head, last);
    }

    /// @param frame of which it takes ownership
    void answerData(Http2FrameStream from, Http2DataFrame frame) {
        ByteBuf octets = frame.content();
        int credit = frame.initialFlowControlledBytes();
        boolean last = frame.isEndStream();
        String fault = over ? null : fault(octets.readableBytes(), last);
        if (over || fault != null) {
            octets.release();
            session.upstream().credit(from, credit);
            if (fault != null) {
                upstreamBroke(fault);
            }
            return;
        }
        ByteBuf seen = exchange.secrets().scrub(octets);
        if (last) {
            seen = Unpooled.wrappedBuffer(seen, exchange.secrets().rest());
        }
        if (!seen.isReadable() && !last) {
            seen.release();
            session.upstream().credit(from, credit);
            return;
        }
        ChannelFuture written = body(seen, last);
        written.addListener(_ -> session.upstream().credit(from, credit));
        if (last) {
            answered(written);
        }
    }

    private @Nullable String fault(int length, boolean last) {
        if (!exchange.isAnswered()) {
            return "it sends a body before a head";
        }
        if (answerLeft == UNKNOWN) {
            return null;
        }
        answerLeft -= length;
        return answerLeft < 0 || last && answerLeft > 0 ? "its body is not as long as its Content-Length" : null;
    }

    private ChannelFuture body(ByteBuf seen, boolean last) {
        if (seen.isReadable()) {
            exchange.answering(seen);
        }
        return session.toGuest(guestStream, seen, last);
    }

    private void answerEnd(Fields trailer) {
        ByteBuf rest = exchange.secrets().rest();
        if (rest.isReadable()) {
            body(rest, false);
        } else {
            rest.release();
        }
        answered(trailer(session.guest(), guestStream, exchange.secrets().scrub(trailer)));
    }

    /// All of the answer is on its way.
    private void answered(ChannelFuture written) {
        end(How.ANSWERED);
        if (!requestWhole) {
            resetUpstream(Http2Error.CANCEL.code());
            written.addListener(_ -> session.guest().reset(guestStream, Http2Error.NO_ERROR.code()));
        }
    }

    /// The other side's part of the connection has ended, or cannot be understood.
    void upstreamBroke(String why) {
        if (over) {
            return;
        }
        if (exchange.isAnswered()) {
            upstreamLeft(Http2Error.INTERNAL_ERROR);
        } else {
            String reason = session.peer().destination().text() + " broke off: " + why;
            refuse(BAD_GATEWAY, reason, null, How.BROKEN_BY_UPSTREAM);
        }
        resetUpstream(Http2Error.PROTOCOL_ERROR.code());
    }

    /// The other side wants no more of it.
    void upstreamLeft(Http2Error error) {
        if (!over) {
            end(How.BROKEN_BY_UPSTREAM);
            // Without an error, what was sent would be the whole answer.
            Http2Error told = error == Http2Error.NO_ERROR ? Http2Error.INTERNAL_ERROR : error;
            session.guest().reset(guestStream, told.code());
        }
    }

    // How it ends.

    private void refuse(int status, String reason, @Nullable String rule, How how) {
        exchange.answering(status, Fields.NONE);
        end(how);
        boolean withBody = !exchange.judged().method().equals("HEAD");
        session.answer(guestStream, status, Refusal.json(status, reason, rule), withBody, requestWhole);
    }

    /// Does nothing more, the first time, and tells of it.
    void end(How how) {
        if (over) {
            return;
        }
        over = true;
        for (Part part = waiting.poll(); part != null; part = waiting.poll()) {
            if (part instanceof Data data) {
                data.octets.release();
                session.guest().credit(guestStream, data.credit);
            }
        }
        exchange.end(how);
    }
}
