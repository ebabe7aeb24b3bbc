package blackbox.gateway.http;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.egress.Metered;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.http.Framing.Kind;
import blackbox.gateway.http.HttpReader.Data;
import blackbox.gateway.http.HttpReader.End;
import blackbox.gateway.http.HttpReader.Head;
import blackbox.gateway.http.HttpReader.Part;
import blackbox.gateway.stack.ConnectionResetException;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.socket.DuplexChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The requests of one guest's connection, one after the other: the next is read when the answer before it is whole.
/// Each side is read only while the other takes what was read. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
public final class HttpSession {
    /// What is read of the body of a request that was refused, so that its client reads the answer.
    private static final long DRAINED_BYTES_MAX = 1 << 20;

    private static final Duration DRAIN_MAX = Duration.ofSeconds(5);
    private static final int REQUEST_TIMEOUT = 408;
    private static final int BAD_GATEWAY = 502;

    private static final int DIALS_MAX = 3;
    private static final String DIALLED_OFTEN = " closes its connections, or leads to another rule each time";

    private final GuestTcpChannel guest;
    private final HttpPeer peer;
    private final HttpReader reader;
    private final GuestAnswers answers;
    private final Deadline deadline;
    private final GuestSide side = new GuestSide(this);
    private SessionState state = SessionState.HEAD;
    private @Nullable Exchange exchange;
    private @Nullable UpstreamLink link;
    private long number;
    private int heldOctets;
    private long drained;
    private boolean pumping;
    private boolean guestFinished;
    /// Whether what the guest sends has no meaning any more.
    private boolean discarding;

    private HttpSession(GuestTcpChannel guest, HttpPeer peer) {
        this.guest = guest;
        this.peer = peer;
        this.reader = new HttpReader(guest.alloc());
        this.answers = new GuestAnswers(guest.alloc());
        this.deadline = new Deadline(guest);
    }

    /// Takes over both sides, with what was read of the guest; takes ownership of it.
    public static void join(GuestTcpChannel guest, ByteBuf fromGuest, DuplexChannel upstream, HttpPeer peer) {
        var session = new HttpSession(guest, peer);
        guest.pipeline().addLast(session.side);
        session.use(upstream, peer.destination().upstream());
        session.take(fromGuest);
    }

    private UpstreamLink use(DuplexChannel channel, @Nullable HostPort upstream) {
        var made = new UpstreamLink(channel, this, peer.encrypted(), upstream);
        link = made;
        made.join();
        made.read(guest.isWritable());
        return made;
    }

    void take(ByteBuf octets) {
        if (state == SessionState.OVER) {
            octets.release();
            return;
        }
        if (discarding) {
            drain(octets);
            return;
        }
        reader.add(octets);
        if (state == SessionState.HEAD && !deadline.runs() && reader.buffered() > 0) {
            deadline.in(peer.headMax(), () -> tooSlow("head"));
        }
        pump();
    }

    private boolean wantsParts() {
        return switch (state) {
            case HEAD, DRAINING -> true;
            case FORWARDING -> {
                Exchange now = exchange;
                UpstreamLink to = link;
                yield now != null && !now.requestWhole && to != null && to.isWritable();
            }
            case PENDING, OVER -> false;
        };
    }

    /// Does all that can be done with what the guest has sent.
    private void pump() {
        if (pumping) {
            return;
        }
        pumping = true;
        try {
            while (wantsParts()) {
                Part part = reader.next();
                if (part == null) {
                    break;
                }
                requestPart(part);
            }
        } catch (HttpFault fault) {
            malformed(fault);
        } finally {
            pumping = false;
        }
        if (state != SessionState.OVER && !discarding) {
            guest.hold(reader.buffered() - heldOctets);
            heldOctets = reader.buffered();
            guest.config().setAutoRead(wantsParts());
            UpstreamLink to = link;
            if (to != null) {
                to.flush();
            }
        }
    }

    private void requestPart(Part part) throws HttpFault {
        Exchange now = exchange;
        switch (part) {
            case Head head -> request(head);
            case Data data when state == SessionState.DRAINING -> drain(data.octets());
            case Data data -> {
                if (now == null) {
                    throw new IllegalStateException("a body without a request");
                }
                body(now, data.octets());
            }
            case End end -> {
                if (now != null) {
                    requestEnd(now, end.trailer());
                } else {
                    finishGuest();
                }
            }
        }
    }

    private void request(Head head) throws HttpFault {
        if (state == SessionState.DRAINING) { // what follows what was refused
            finishGuest();
            return;
        }
        deadline.stop();
        GuestRequest request = GuestRequest.of(head);
        reader.frame(request.framing());
        var now = new Exchange(peer, request, number++);
        now.requestWhole = request.framing().is(Kind.NONE) && reader.next() instanceof End;
        exchange = now;
        state = SessionState.PENDING;
        judge(now);
    }

    private void judge(Exchange now) {
        peer.judge()
                .request(peer.destination(), peer.serverName(), now.judged())
                .thenAccept(verdict -> decided(
                        now, now.begins(now.secrets().check(now.request().served(verdict)))));
    }

    private void decided(Exchange now, RequestVerdict given) {
        Verdict verdict = given.verdict();
        now.decided(given);
        if (state == SessionState.OVER) {
            return; // the guest has gone, which was told
        }
        if (!verdict.allowed()) {
            answer(Exchange.refusal(given), verdict.reason(), verdict.rule(), How.REFUSED);
            return;
        }
        Route route = Route.of(verdict, peer.destination(), now.secrets().put());
        UpstreamLink known = link;
        if (known != null && known.takes(route)) {
            forward(now, known, route);
        } else if (now.dials++ < DIALS_MAX) {
            dial(now, route);
        } else {
            answer(BAD_GATEWAY, peer.destination().text() + DIALLED_OFTEN, null, How.BROKEN_BY_UPSTREAM);
        }
    }

    private void dial(Exchange now, Route route) {
        dropLink();
        Destination judged = peer.destination();
        peer.otherSide().dial(route.upstream()).whenComplete((channel, failure) -> {
            if (state == SessionState.OVER) {
                if (channel != null) {
                    var unused = channel.close();
                }
            } else if (failure != null) {
                answer(
                        BAD_GATEWAY,
                        peer.destination().text() + " was not reached: " + failure.getMessage(),
                        null,
                        How.BROKEN_BY_UPSTREAM);
            } else if (peer.destination().equals(judged)) {
                forward(now, use(channel, route.upstream()), route);
            } else {
                use(channel, route.upstream());
                judge(now); // it is at another address
            }
        });
    }

    private void forward(Exchange now, UpstreamLink to, Route route) {
        state = SessionState.FORWARDING;
        GuestRequest request = now.request();
        WebSocketKeys keys = request.webSocket();
        Outgoing leaving = now.secrets().leaving(now.target(), keys == null ? null : keys.own());
        Departure departure = now.departs(guest, to, route);
        String authority = request.canonicalAuthority(peer.schemePort());
        if (stops(now, departure.head(framing -> HttpWriter.request(leaving, authority, framing)))
                || now.requestWhole && stops(now, departure.end(Fields.NONE))) {
            return;
        }
        if (!now.requestWhole && departure.holdsAll()) {
            deadline.in(peer.headMax(), () -> tooSlow("body"));
        }
        if (request.expectsContinue() && reader.buffered() == 0) {
            side.context().writeAndFlush(HttpWriter.goOn());
        }
        if (!request.framing().is(Kind.NONE)) {
            pump();
        }
        to.flush();
        pump();
    }

    private void body(Exchange now, ByteBuf data) {
        Departure departure = now.departure();
        if (link == null || departure == null) {
            data.release();
        } else {
            var unused = stops(now, departure.body(data));
        }
    }

    private void requestEnd(Exchange now, Fields trailer) {
        Departure departure = now.departure();
        now.requestWhole = true;
        deadline.stop();
        if (link != null && departure != null) {
            var unused = stops(now, departure.end(trailer));
        }
    }

    /// Ends the exchange if something stops it.
    private boolean stops(Exchange now, @Nullable Ruling stop) {
        if (stop == null) {
            return false;
        }
        if (now.isAnswered()) {
            breakOff(now, How.CUT);
        } else {
            answer(stop.status(), Refusal.json(stop), How.REFUSED);
        }
        return true;
    }

    private void drain(ByteBuf data) {
        drained += data.readableBytes();
        data.release();
        if (drained > DRAINED_BYTES_MAX) {
            finishGuest();
        }
    }

    private void answer(int status, String reason, @Nullable String rule, How how) {
        answer(status, Refusal.json(status, reason, rule), how);
    }

    /// Ends the exchange with an answer of the gateway's own, and the connection after it.
    private void answer(int status, String json, How how) {
        Exchange now = exchange;
        boolean withBody = now == null || !now.judged().method().equals("HEAD");
        if (now != null) {
            now.answering(status, Fields.NONE);
        }
        side.context().writeAndFlush(HttpWriter.own(guest.alloc(), status, json, withBody));
        // The part of the body that could be in flight; a client that waits for 100 sends none.
        boolean more =
                discarding || now != null && !now.requestWhole && !now.request().expectsContinue();
        if (now != null) {
            exchange = null;
            now.end(how);
        }
        dropLink();
        if (more && !guestFinished) {
            drainGuest();
        } else {
            finishGuest();
        }
    }

    private void drainGuest() {
        state = SessionState.DRAINING;
        deadline.in(DRAIN_MAX, this::finishGuest);
        if (discarding) {
            guest.config().setAutoRead(true);
            if (!peer.encrypted()) {
                guest.shutdownOutput();
            }
        } else {
            pump();
        }
    }

    private void malformed(HttpFault fault) {
        if (state == SessionState.DRAINING) {
            finishGuest();
            return;
        }
        peer.findings().found(Finding.MALFORMED_HTTP, peer.destination().text() + ": " + fault.text());
        Exchange now = exchange;
        if (now != null && now.isAnswered()) {
            over(How.BROKEN_BY_GUEST);
            guest.reset();
        } else {
            String reason = "the request is refused: " + fault.text();
            discarding = true;
            answer(fault.status(), reason, null, How.BROKEN_BY_GUEST);
        }
    }

    private void tooSlow(String part) {
        Exchange now = exchange;
        if (now != null && now.isAnswered()) {
            breakOff(now, How.BROKEN_BY_GUEST);
        } else {
            answer(REQUEST_TIMEOUT, "the " + part + " of a request took too long", null, How.BROKEN_BY_GUEST);
        }
    }

    void guestWritable() {
        UpstreamLink from = link;
        if (from != null && state != SessionState.OVER) {
            answers(from, false);
            upstreamPaused(); // what waited here may be all that the guest takes: then nothing more is read
        }
    }

    void guestFinished() {
        guestFinished = true;
        Exchange now = exchange;
        if (now == null || !now.requestWhole) {
            over(How.BROKEN_BY_GUEST);
            side.context().close();
        }
    }

    void guestFailed(Throwable cause) {
        over(
                cause instanceof ConnectionResetException reset && reset.how() == FlowEnd.How.GATEWAY_CLOSED
                        ? How.GATEWAY_CLOSED
                        : How.BROKEN_BY_GUEST);
    }

    void guestGone() {
        over(How.BROKEN_BY_GUEST);
    }

    /// Closes the guest's connection after all that it was sent.
    private void finishGuest() {
        over(How.BROKEN_BY_GUEST);
        side.context().flush();
        side.context().close();
    }

    /// Does nothing more; an exchange that is not over ends so.
    private void over(How how) {
        if (state == SessionState.OVER) {
            return;
        }
        state = SessionState.OVER;
        deadline.stop();
        dropLink();
        guest.hold(-heldOctets);
        heldOctets = 0;
        reader.close();
        Exchange now = exchange;
        exchange = null;
        if (now != null) {
            now.end(how);
        }
    }

    private void dropLink() {
        UpstreamLink known = link;
        link = null;
        if (known != null) {
            known.leave();
        }
    }

    void upstreamRead(UpstreamLink from) {
        answers(from, false);
    }

    void upstreamPaused() {
        if (state != SessionState.OVER) {
            side.context().flush();
        }
    }

    void upstreamWritable() {
        pump();
    }

    void upstreamClosed(UpstreamLink from) {
        if (from != link) {
            return;
        }
        Exchange now = exchange;
        if (now == null || state != SessionState.FORWARDING) {
            dropLink(); // the next request dials again
            return;
        }
        answers(from, true); // it may have said the rest before, while the guest did not take it
        if (exchange != now) {
            return;
        }
        if (now.answer != null && from.reader.endsByClose() && from.endIsCertain()) {
            answerEnd(now, from, Fields.NONE);
        } else {
            upstreamBroke(now, "it closed the connection before its answer was whole");
        }
    }

    /// Does all that can be done with what the other side has sent.
    ///
    /// @param all whether to leave nothing, even if the guest takes it slowly
    private void answers(UpstreamLink from, boolean all) {
        try {
            while (from == link && state != SessionState.OVER && (all || guest.isWritable())) {
                Exchange now = exchange;
                if (now == null || state != SessionState.FORWARDING) {
                    if (from.reader.buffered() > 0) {
                        dropLink(); // it answers what was not asked
                    }
                    break;
                }
                Part part = from.reader.next();
                if (part == null) {
                    break;
                }
                answerPart(now, from, part);
            }
        } catch (HttpFault fault) {
            Exchange now = exchange;
            if (now != null) {
                upstreamBroke(now, fault.text());
            }
        }
        if (from == link) {
            from.read(guest.isWritable());
        }
    }

    private void answerPart(Exchange now, UpstreamLink from, Part part) throws HttpFault {
        switch (part) {
            case Head head ->
                answerHead(now, from, UpstreamAnswer.of(head, now.judged().method()));
            case Data data -> {
                if (stops(now, now.receives(data.octets().readableBytes()))) {
                    data.octets().release();
                } else {
                    toGuest(answers.body(now, data.octets()));
                }
            }
            case End end -> {
                if (now.answer == null) {
                    return; // of an interim answer
                }
                answerEnd(now, from, end.trailer());
            }
        }
    }

    private void answerHead(Exchange now, UpstreamLink from, UpstreamAnswer answer) throws HttpFault {
        GuestRequest request = now.request();
        if (answer.switches()) {
            WebSocketKeys keys = request.webSocket();
            if (keys == null || !answer.fields().tokens("upgrade").contains("websocket")) {
                throw HttpFault.bad("it switches to a protocol that was not asked for");
            }
            UpstreamAnswer accepted = keys.accepted(answer);
            from.reader.frame(Framing.NONE);
            switchOver(now, from, accepted);
            return;
        }
        from.reader.frame(answer.framing());
        if (answer.isInterim()) {
            var unused = passes(now, answers.interim(now, answer));
            return;
        }
        now.reusable = !answer.last();
        now.lastForGuest = request.last() || !now.requestWhole || guestFinished;
        var unused = passes(now, answers.head(now, answer, now.lastForGuest));
    }

    private void answerEnd(Exchange now, UpstreamLink from, Fields trailer) {
        if (stops(now, now.receives(trailer.octets()))) {
            return;
        }
        toGuest(answers.end(now, trailer));
        exchange = null;
        now.end(How.ANSWERED);
        if (!now.reusable || !now.requestWhole || from.reader.buffered() > 0) {
            dropLink();
        }
        side.context().flush();
        if (!now.requestWhole) {
            drainGuest();
        } else if (now.lastForGuest || guestFinished) {
            finishGuest();
        } else {
            state = SessionState.HEAD;
            take(Unpooled.EMPTY_BUFFER);
        }
    }

    /// Sends the guest what was not counted yet, if it may have it.
    private boolean passes(Exchange now, ByteBuf octets) {
        if (stops(now, now.receives(octets.readableBytes()))) {
            octets.release();
            return false;
        }
        toGuest(octets);
        return true;
    }

    private void toGuest(ByteBuf octets) {
        if (octets.isReadable()) {
            side.context().write(octets);
        } else {
            octets.release();
        }
    }

    private void switchOver(Exchange now, UpstreamLink from, UpstreamAnswer answer) {
        ByteBuf head = HttpWriter.answer(guest.alloc(), answer, Framing.NONE, false);
        if (!passes(now, head)) {
            return;
        }
        now.answering(answer.status(), answer.fields());
        exchange = null;
        Metered metered = now.passedOn();
        now.end(How.SWITCHED);
        state = SessionState.OVER;
        deadline.stop();
        guest.hold(-heldOctets);
        heldOctets = 0;
        ByteBuf fromGuest = reader.rest();
        ByteBuf fromUpstream = from.reader.rest();
        link = null;
        from.handOver();
        guest.pipeline().remove(side);
        Tunnel.join(guest, fromGuest, from.channel(), fromUpstream, metered);
    }

    private void upstreamBroke(Exchange now, String why) {
        if (!now.isAnswered()) {
            answer(BAD_GATEWAY, peer.destination().text() + " broke off: " + why, null, How.BROKEN_BY_UPSTREAM);
            return;
        }
        breakOff(now, How.BROKEN_BY_UPSTREAM);
    }

    /// Ends an exchange of which the guest has a part of the answer, so that it sees that it is a part.
    private void breakOff(Exchange now, How how) {
        boolean cutShows = !now.answersIn(Kind.UNTIL_CLOSE);
        over(how);
        side.context().flush();
        if (cutShows) {
            side.context().close();
        } else {
            guest.reset();
        }
    }
}
