package blackbox.gateway;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Metered;
import blackbox.gateway.http.Http2Session;
import blackbox.gateway.http.HttpLook;
import blackbox.gateway.http.HttpPeer;
import blackbox.gateway.http.HttpSession;
import blackbox.gateway.http.OtherSide;
import blackbox.gateway.http.Tunnel;
import blackbox.gateway.stack.ConnectionResetException;
import blackbox.gateway.stack.GuestTcpChannel;
import blackbox.gateway.tls.ClientHello;
import blackbox.gateway.tls.TlsEnds;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One connection that is looked into, from when it is accepted until it is known what is spoken on it; then it is
/// handed on. If it begins with TLS, that is opened first: to the other side, then to the guest. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class Opening {
    private final Inspector inspector;
    private final AllowedConnection connection;
    private final DuplexChannel upstream;
    private final boolean requestsOnly;
    private final GuestSide guestSide = new GuestSide();
    private final UpstreamSide upstreamSide = new UpstreamSide();
    private @Nullable GuestTcpChannel accepted;
    private Phase phase = Phase.CLEAR;
    private ByteBuf first = Unpooled.EMPTY_BUFFER;
    private ByteBuf early = Unpooled.EMPTY_BUFFER;
    private int held;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable String serverName;
    /// Whether the guest's client of TLS speaks nothing else.
    private boolean http2;

    private boolean guestFinished;
    private boolean upstreamFinished;
    private boolean closing;

    private enum Phase {
        /// It may begin with TLS.
        CLEAR,
        /// A verdict on TLS, or a handshake, is awaited.
        HANDSHAKE,
        /// TLS is open.
        OPENED,
        /// Others have it, or nobody.
        OVER
    }

    Opening(Inspector inspector, AllowedConnection connection, DuplexChannel upstream) {
        this.inspector = inspector;
        this.connection = connection;
        this.upstream = upstream;
        this.requestsOnly = connection.verdict().inspection() == Inspection.REQUESTS;
    }

    void join() {
        GuestTcpChannel guest = connection.accept(guestSide);
        accepted = guest;
        guest.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        upstream.pipeline().addLast(upstreamSide);
        awaitWords();
        upstream.read(); // once: it may be the first to speak
    }

    private GuestTcpChannel guest() {
        GuestTcpChannel known = accepted;
        if (known == null) {
            throw new IllegalStateException("the guest's connection was not accepted");
        }
        return known;
    }

    private void awaitWords() {
        if (requestsOnly) {
            startTimer(this::silent, inspector.settings().headMax().toMillis());
        }
    }

    private void startTimer(Runnable then, long afterMs) {
        stopTimer();
        timer = guest().eventLoop().schedule(then, afterMs, TimeUnit.MILLISECONDS);
    }

    private void stopTimer() {
        ScheduledFuture<?> running = timer;
        timer = null;
        if (running != null) {
            running.cancel(false);
        }
    }

    private void silent() {
        if (phase == Phase.OVER) {
            return;
        }
        if (requestsOnly || HttpLook.at(first) == HttpLook.PERHAPS) {
            notHttp("silent"); // relayed, a request that begins so would not be judged
        } else {
            reset();
        }
    }

    private final class GuestSide extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            first = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), first, (ByteBuf) message);
            guest().hold(first.readableBytes() - held);
            held = first.readableBytes();
            if (phase == Phase.CLEAR) {
                look();
            } else if (phase == Phase.OPENED) {
                lookForHttp();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
                guestFinished = true;
                if (phase == Phase.CLEAR || phase == Phase.OPENED) {
                    octets();
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            closing |= cause instanceof ConnectionResetException reset && reset.how() == FlowEnd.How.GATEWAY_CLOSED;
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end();
        }
    }

    private final class UpstreamSide extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            early = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), early, (ByteBuf) message);
            if (phase == Phase.CLEAR || phase == Phase.OPENED) {
                octets();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                upstreamFinished = true;
                if (phase == Phase.CLEAR) {
                    octets();
                } else {
                    ctx.close();
                }
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (phase == Phase.CLEAR || phase == Phase.OPENED) {
                reset();
            }
        }
    }

    private void look() {
        ClientHello hello = ClientHello.read(first);
        switch (hello.kind()) {
            case OTHER -> lookForHttp();
            case MORE -> {
                if (timer == null) { // each piece of a hello would give it more time
                    startTimer(this::silent, inspector.settings().handshakeMax().toMillis());
                }
            }
            case MALFORMED -> {
                inspector
                        .findings()
                        .found(Finding.MALFORMED_TLS, connection.destination().text());
                reset();
            }
            case WHOLE -> openTls(hello);
        }
    }

    private void lookForHttp() {
        switch (HttpLook.at(first)) {
            case HTTP -> http();
            case MORE, PERHAPS -> {
                if (timer == null) {
                    startTimer(this::silent, inspector.settings().headMax().toMillis());
                }
            }
            case OTHER -> octets();
        }
    }

    // What it turns out to be.

    private void http() {
        boolean encrypted = phase == Phase.OPENED;
        ByteBuf said = leave();
        HttpSession.join(guest(), said, upstream, peer(encrypted));
    }

    private void http2() {
        if (!upstream.isActive()) {
            reset();
            return;
        }
        ByteBuf fromUpstream = early;
        early = Unpooled.EMPTY_BUFFER;
        ByteBuf fromGuest = leave();
        Http2Session.join(guest(), fromGuest, upstream, fromUpstream, peer(true));
    }

    private HttpPeer peer(boolean encrypted) {
        return new HttpPeer(
                connection.flow(),
                new Peer(encrypted),
                serverName,
                encrypted,
                inspector.judge(),
                inspector.listener(),
                inspector.findings(),
                inspector.secrets(),
                inspector.settings().headMax());
    }

    private final class Peer implements OtherSide {
        private final boolean encrypted;

        Peer(boolean encrypted) {
            this.encrypted = encrypted;
        }

        @Override
        public Destination destination() {
            return connection.destination();
        }

        @Override
        public CompletionStage<DuplexChannel> dial(@Nullable HostPort upstream) {
            return connection.dial(upstream).thenCompose(channel -> {
                var again = (DuplexChannel) channel;
                return encrypted
                        ? inspector.secure(connection, again, false)
                        : CompletableFuture.completedFuture(again);
            });
        }
    }

    /// Neither TLS nor HTTP, or the other side has spoken first.
    private void octets() {
        if (requestsOnly) {
            notHttp("something else");
            return;
        }
        GuestTcpChannel guest = guest();
        Metered metered = inspector.stream(connection);
        if (!metered.begins()) {
            reset();
            return;
        }
        boolean opened = phase == Phase.OPENED;
        ByteBuf fromUpstream = early;
        early = Unpooled.EMPTY_BUFFER;
        ByteBuf fromGuest = leave();
        if (opened) {
            Tunnel.join(guest, fromGuest, upstream, fromUpstream, metered);
            if (guestFinished) {
                guest.close();
            }
            return;
        }
        var relay = new Relay(upstream, metered);
        guest.pipeline().addLast(relay.guestSide());
        relay.start(guest);
        again(guest, fromGuest, guestFinished);
        again(upstream, fromUpstream, upstreamFinished);
        guest.config().setAutoRead(upstream.isWritable());
    }

    /// Lets a pipeline see once more what was held back.
    private static void again(DuplexChannel channel, ByteBuf octets, boolean finished) {
        channel.pipeline().fireChannelRead(octets);
        channel.pipeline().fireChannelReadComplete();
        if (finished) {
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
    }

    private void notHttp(String what) {
        inspector
                .findings()
                .found(
                        Finding.NOT_HTTP,
                        what + " to " + connection.destination().text());
        reset();
    }

    // TLS.

    private void openTls(ClientHello hello) {
        phase = Phase.HANDSHAKE;
        stopTimer();
        guest().config().setAutoRead(false);
        serverName = hello.serverName();
        http2 = hello.needsHttp2();
        inspector.judgeTls(connection, serverName).thenAccept(verdict -> {
            if (phase != Phase.HANDSHAKE) {
                return;
            }
            if (!verdict.allowed()) {
                alert(TlsAlert.ACCESS_DENIED);
                return;
            }
            CompletionStage<DuplexChannel> secured = inspector.secure(connection, upstream, http2);
            if (early.isReadable()) {
                ByteBuf raw = early;
                early = Unpooled.EMPTY_BUFFER;
                upstream.pipeline().fireChannelRead(raw);
            }
            secured.whenComplete((channel, failure) -> {
                if (phase != Phase.HANDSHAKE) {
                    return;
                }
                if (failure == null && (!http2 || inspector.takesHttp2(guest()))) {
                    serveTls();
                } else if (failure == null) {
                    alert(TlsAlert.INTERNAL_ERROR);
                } else {
                    alert(
                            switch (cause(failure)) {
                                case Inspector.CertificateRefused _ -> TlsAlert.BAD_CERTIFICATE;
                                case Inspector.ProtocolRefused _ -> TlsAlert.NO_APPLICATION_PROTOCOL;
                                default -> TlsAlert.INTERNAL_ERROR;
                            });
                }
            });
        });
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void serveTls() {
        GuestTcpChannel guest = guest();
        String asked = serverName;
        String name = asked == null ? Inspector.peer(connection) : asked.toLowerCase(Locale.ROOT);
        TlsEnds ends = inspector.tls();
        String protocol = Inspector.protocol(http2);
        ends.toGuest(guest.alloc(), name, protocol, guest.eventLoop()).whenComplete((handler, failure) -> {
            if (phase != Phase.HANDSHAKE) {
                return;
            }
            if (failure != null) {
                alert(TlsAlert.INTERNAL_ERROR);
                return;
            }
            handler.handshakeFuture().addListener(done -> {
                if (done.isSuccess()) {
                    opened();
                } else {
                    notOpened(name, done.cause());
                }
            });
            guest.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
            TlsGuard.add(guest, handler);
            guest.pipeline()
                    .addAfter(
                            guest.pipeline().context(handler).name(),
                            null,
                            new PlaintextWatch(connection.flow(), inspector.listener()));
            ByteBuf hello = first;
            first = Unpooled.EMPTY_BUFFER;
            guest.hold(-held);
            held = 0;
            guest.pipeline().fireChannelRead(hello);
            guest.pipeline().fireChannelReadComplete();
            guest.config().setAutoRead(true);
        });
    }

    private void opened() {
        if (phase != Phase.HANDSHAKE) {
            return;
        }
        phase = Phase.OPENED;
        if (http2) {
            http2();
            return;
        }
        awaitWords();
        if (early.isReadable() || !upstream.isActive()) {
            octets();
        } else {
            upstream.read();
            if (first.isReadable()) {
                lookForHttp();
            }
        }
    }

    private void notOpened(String name, Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        boolean refused = message.contains("unknown_ca") || message.contains("certificate");
        boolean left = cause instanceof IOException && message.contains("closed");
        if (!closing && (refused || left)) {
            inspector.findings().found(Finding.GUEST_DOES_NOT_TRUST, name + ": " + message);
        }
        end();
    }

    private void alert(TlsAlert alert) {
        GuestTcpChannel guest = guest();
        end();
        guest.writeAndFlush(alert.record());
        guest.close();
    }

    // How it ends here.

    /// Takes both sides out, for those that come next.
    private ByteBuf leave() {
        phase = Phase.OVER;
        stopTimer();
        GuestTcpChannel guest = guest();
        guest.hold(-held);
        held = 0;
        ByteBuf said = first;
        first = Unpooled.EMPTY_BUFFER;
        guest.pipeline().remove(guestSide);
        upstream.pipeline().remove(upstreamSide);
        return said;
    }

    private void reset() {
        GuestTcpChannel guest = guest();
        end();
        guest.reset();
    }

    private void end() {
        if (phase == Phase.OVER) {
            return;
        }
        phase = Phase.OVER;
        stopTimer();
        guest().hold(-held);
        held = 0;
        first.release();
        first = Unpooled.EMPTY_BUFFER;
        early.release();
        early = Unpooled.EMPTY_BUFFER;
        upstream.close();
    }
}
