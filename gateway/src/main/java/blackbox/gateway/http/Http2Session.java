package blackbox.gateway.http;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.HttpExchange.How;
import blackbox.gateway.stack.ConnectionResetException;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The requests of one guest's connection in HTTP/2, at the same time, over one connection to the other side, which is
/// never dialled again: when it takes no more, the guest is told so, and connects anew.
///
/// Nothing of bodies counts against the gateway's budget: it is given back only when a peer is read, which the budget
/// could stop. Windows bound it, and the number of such connections. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
public final class Http2Session {
    /// Of the heads of requests that are under way.
    private static final int HEADS_OCTETS_MAX = 512 << 10;
    /// Of answers that the guest's windows do not take yet.
    private static final int UNSENT_OCTETS_MAX = 512 << 10;

    private final HttpPeer peer;
    private final Http2Side guest;
    private final Http2Side upstream;
    private final Map<Http2FrameStream, Http2Exchange> ofGuest = new HashMap<>();
    private final Map<Http2FrameStream, Http2Exchange> ofUpstream = new HashMap<>();
    /// Those that were answered without an exchange, and are not closed yet.
    private final Set<Http2FrameStream> refused = new HashSet<>();
    /// Those that are allowed and for which the other side takes no stream yet.
    private final ArrayDeque<Http2Exchange> queued = new ArrayDeque<>();

    private @Nullable ScheduledFuture<?> timer;
    private long number;
    private int headsOctets;
    /// The other side's windows do not bound it: what a stream has left of them is given back when it ends there.
    private int unsentOctets;
    /// Whether the guest was told to connect anew.
    private boolean turnedAway;
    /// Whether the other side takes no more.
    private boolean goingAway;
    private boolean over;
    /// That of all its requests; null before the first.
    private @Nullable Route route;
    private String upstreamFault = "it closed the connection before its answer was whole";

    private Http2Session(GuestTcpChannel channel, DuplexChannel upstreamChannel, HttpPeer peer) {
        this.peer = peer;
        this.guest = Http2Side.server(channel, new OfGuest());
        this.upstream = Http2Side.client(upstreamChannel, new OfUpstream());
    }

    /// Takes over both sides, with what was read of them; takes ownership of that.
    public static void join(
            GuestTcpChannel guest, ByteBuf fromGuest, DuplexChannel upstream, ByteBuf fromUpstream, HttpPeer peer) {
        var session = new Http2Session(guest, upstream, peer);
        session.timer =
                guest.eventLoop().schedule(session::silent, peer.headMax().toMillis(), TimeUnit.MILLISECONDS);
        session.upstream.join();
        session.guest.join();
        session.upstream.take(fromUpstream);
        session.guest.take(fromGuest);
        session.guest.read(true);
        session.readUpstream();
        if (!session.upstream.isActive()) {
            session.upstreamEnded();
        }
    }

    HttpPeer peer() {
        return peer;
    }

    Http2Side guest() {
        return guest;
    }

    Http2Side upstream() {
        return upstream;
    }

    /// Whether another request can be sent to the other side, sooner or later.
    boolean takesStreams() {
        return !goingAway && !over;
    }

    /// Whether requests of a route go over this connection: those of the first that was allowed, if it leads there.
    boolean takes(Route next) {
        Route known = route;
        if (known == null && leadsTo(next)) {
            route = next;
            return true;
        }
        return next.equals(known);
    }

    /// Whether this connection leads where a route does.
    boolean leadsTo(Route next) {
        return Objects.equals(peer.destination().upstream(), next.upstream());
    }

    /// Has the guest connect anew for its next requests; what it has asked for is still answered.
    void turnAway() {
        if (!turnedAway) {
            turnedAway = true;
            guest.goAway();
        }
    }

    /// Forwards an allowed request as soon as the other side takes one more, in their order. The codec could queue
    /// them, too, but would send one that is left meanwhile.
    void forward(Http2Exchange allowed) {
        queued.add(allowed);
        forwardQueued();
        limitQueued(allowed);
    }

    /// Gives back a request that waits if all that wait hold more than half of what the guest may send: what is
    /// under way needs the rest to come to its end.
    void limitQueued(Http2Exchange latest) {
        if (queued.contains(latest)
                && queued.stream().mapToInt(Http2Exchange::waitingOctets).sum() > Http2Side.GUEST_WINDOW / 2) {
            queued.remove(latest);
            latest.giveBack();
        }
    }

    /// Counts a head or a trailer that is kept; false if the heads of requests are too much already.
    boolean keepsHead(int octets) {
        if (headsOctets + octets > HEADS_OCTETS_MAX) {
            return false;
        }
        headsOctets += octets;
        return true;
    }

    private void forwardQueued() {
        while (!queued.isEmpty() && (!takesStreams() || upstream.takesStream() && upstream.isWritable())) {
            queued.remove().forward();
        }
    }

    /// A new stream to the other side.
    Http2FrameStream open(Http2Exchange by) {
        Http2FrameStream stream = upstream.newStream();
        ofUpstream.put(stream, by);
        return stream;
    }

    /// It was not opened after all.
    void forget(Http2FrameStream stream) {
        ofUpstream.remove(stream);
    }

    /// Answers by itself, and reads no more of the request.
    ///
    /// @param whole whether all of it was read
    void answer(Http2FrameStream stream, int status, String json, boolean withBody, boolean whole) {
        ByteBuf body = Unpooled.copiedBuffer(json, StandardCharsets.UTF_8);
        ChannelFuture written = guest.head(stream, Http2Heads.own(status, body.readableBytes()), !withBody);
        if (withBody) {
            written = guest.data(stream, body, true);
        } else {
            body.release();
        }
        if (!whole) {
            written.addListener(_ -> guest.reset(stream, Http2Error.NO_ERROR.code()));
        }
    }

    /// Sends the guest a piece of an answer.
    ///
    /// @param octets of which it takes ownership
    ChannelFuture toGuest(Http2FrameStream stream, ByteBuf octets, boolean last) {
        int count = octets.readableBytes();
        unsentOctets += count;
        readUpstream();
        return guest.data(stream, octets, last).addListener(_ -> {
            unsentOctets -= count;
            readUpstream();
        });
    }

    /// A guest is always read: it says in its frames that it takes more.
    private void readUpstream() {
        upstream.read(guest.isWritable() && unsentOctets < UNSENT_OCTETS_MAX);
    }

    private void found(String what) {
        peer.findings().found(Finding.MALFORMED_HTTP, peer.destination().text() + ": " + what);
    }

    private void silent() {
        timer = null;
        peer.findings()
                .found(Finding.NOT_HTTP, "silent to " + peer.destination().text());
        guest.close();
    }

    private void stopTimer() {
        ScheduledFuture<?> running = timer;
        timer = null;
        if (running != null) {
            running.cancel(false);
        }
    }

    private final class OfGuest implements Http2Side.Receiver {
        @Override
        public void began() {
            stopTimer();
        }

        @Override
        public void head(Http2FrameStream stream, Http2HeadersFrame head) {
            Http2Exchange known = ofGuest.get(stream);
            if (known != null) {
                known.head(head);
            } else if (!refused.contains(stream)) {
                request(stream, head);
            }
        }

        private void request(Http2FrameStream stream, Http2HeadersFrame head) {
            try {
                GuestRequest request = Http2Heads.request(head.headers(), head.isEndStream());
                int octets = Http2Heads.octets(head.headers());
                if (!keepsHead(octets)) {
                    found("the heads of its requests at once have more than 512 KiB");
                    guest.reset(stream, Http2Error.REFUSED_STREAM.code());
                    return;
                }
                var begun = new Http2Exchange(Http2Session.this, stream, request, octets, number++);
                ofGuest.put(stream, begun);
                begun.judge();
            } catch (HttpFault fault) {
                found(fault.text());
                refused.add(stream);
                String reason = "the request is refused: " + fault.text();
                answer(
                        stream,
                        fault.status(),
                        Refusal.json(fault.status(), reason, null),
                        !"HEAD".contentEquals(String.valueOf(head.headers().method())),
                        head.isEndStream());
            }
        }

        @Override
        public void data(Http2FrameStream stream, Http2DataFrame data) {
            Http2Exchange known = ofGuest.get(stream);
            if (known != null) {
                known.data(data);
            } else {
                data.release();
                guest.credit(stream, data.initialFlowControlledBytes());
            }
        }

        @Override
        public void reset(Http2FrameStream stream, long code) {
            Http2Exchange known = ofGuest.get(stream);
            if (known != null) {
                known.guestLeft(code);
            }
        }

        @Override
        public void closed(Http2FrameStream stream) {
            Http2Exchange known = ofGuest.remove(stream);
            refused.remove(stream);
            if (known != null) {
                headsOctets -= known.headOctets();
                queued.remove(known);
                known.guestLeft(Http2Error.CANCEL.code());
            }
            finishIfDone();
        }

        @Override
        public void goingAway() {
            // What it has asked for is still answered.
        }

        @Override
        public void streamFault(Http2FrameStream stream, Http2Error error, String why) {
            found(why);
            reset(stream, Http2Error.CANCEL.code());
            guest.reset(stream, error.code());
        }

        @Override
        public void connectionFault(String why) {
            found(why);
        }

        @Override
        public void writabilityChanged() {
            readUpstream();
        }

        @Override
        public void ended(@Nullable Throwable cause) {
            over = true;
            stopTimer();
            How how = cause instanceof ConnectionResetException reset && reset.how() == FlowEnd.How.GATEWAY_CLOSED
                    ? How.GATEWAY_CLOSED
                    : How.BROKEN_BY_GUEST;
            List.copyOf(ofGuest.values()).forEach(each -> each.end(how));
            ofGuest.clear();
            queued.clear();
            upstream.close();
        }
    }

    private final class OfUpstream implements Http2Side.Receiver {
        @Override
        public void began() {
            upstream.onLoop(Http2Session.this::forwardQueued); // it may take more than before
        }

        @Override
        public void head(Http2FrameStream stream, Http2HeadersFrame head) {
            Http2Exchange known = ofUpstream.get(stream);
            if (known != null) {
                known.answerHead(head);
            }
        }

        @Override
        public void data(Http2FrameStream stream, Http2DataFrame data) {
            Http2Exchange known = ofUpstream.get(stream);
            if (known != null) {
                known.answerData(stream, data);
            } else {
                data.release();
                upstream.credit(stream, data.initialFlowControlledBytes());
            }
        }

        @Override
        public void reset(Http2FrameStream stream, long code) {
            Http2Exchange known = ofUpstream.get(stream);
            if (known != null) {
                @Nullable Http2Error error = Http2Error.valueOf(code);
                known.upstreamLeft(error == null ? Http2Error.INTERNAL_ERROR : error);
            }
        }

        @Override
        public void closed(Http2FrameStream stream) {
            Http2Exchange known = ofUpstream.remove(stream);
            if (known != null) {
                known.upstreamLeft(goingAway ? Http2Error.REFUSED_STREAM : Http2Error.INTERNAL_ERROR);
            }
            upstream.onLoop(Http2Session.this::forwardQueued); // not in the middle of closing this one
        }

        @Override
        public void goingAway() {
            goingAway = true;
            turnAway();
            forwardQueued();
            finishIfDone();
        }

        @Override
        public void streamFault(Http2FrameStream stream, Http2Error error, String why) {
            Http2Exchange known = ofUpstream.get(stream);
            if (known != null) {
                known.upstreamBroke(why);
            }
            upstream.reset(stream, error.code());
        }

        @Override
        public void connectionFault(String why) {
            upstreamFault = why;
        }

        @Override
        public void writabilityChanged() {
            upstream.onLoop(Http2Session.this::forwardQueued);
        }

        @Override
        public void ended(@Nullable Throwable cause) {
            upstreamEnded();
        }
    }

    private void upstreamEnded() {
        if (over) {
            return;
        }
        goingAway = true;
        turnAway();
        List.copyOf(ofUpstream.values()).forEach(each -> each.upstreamBroke(upstreamFault));
        ofUpstream.clear();
        forwardQueued();
        finishIfDone();
    }

    /// Ends both connections once no request is left and none can come.
    private void finishIfDone() {
        if (turnedAway && !over && ofGuest.isEmpty() && refused.isEmpty()) {
            guest.close();
            upstream.close();
        }
    }
}
