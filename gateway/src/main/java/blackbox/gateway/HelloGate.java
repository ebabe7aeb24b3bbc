package blackbox.gateway;

import blackbox.gateway.egress.Finding;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestTcpChannel;
import blackbox.gateway.tls.ClientHello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Holds back the first octets of a guest while they may be a ClientHello, until its server name has been judged; then
/// lets everything through and is gone. What the other side says passes by it.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class HelloGate extends ChannelDuplexHandler {
    private final Inspector inspector;
    private final AllowedConnection connection;
    private ByteBuf first = Unpooled.EMPTY_BUFFER;
    private long held;
    private boolean judging;
    private boolean wantsRead;
    private boolean finished;
    private @Nullable ScheduledFuture<?> timer;

    HelloGate(Inspector inspector, AllowedConnection connection) {
        this.inspector = inspector;
        this.connection = connection;
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (judging) {
            wantsRead = true;
        } else {
            ctx.read();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        int count = ((ByteBuf) message).readableBytes();
        hold(ctx, count);
        first = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), first, (ByteBuf) message);
        if (judging) {
            return;
        }
        ClientHello hello = ClientHello.read(first);
        switch (hello.kind()) {
            case OTHER -> letThrough(ctx);
            case MORE -> waitForMore(ctx);
            case MALFORMED -> malformed(ctx);
            case WHOLE -> {
                judging = true;
                String name = hello.encrypted() ? null : hello.serverName();
                inspector.judgeTls(connection, name).thenAccept(verdict -> judged(ctx, verdict));
            }
        }
    }

    private void waitForMore(ChannelHandlerContext ctx) {
        if (timer == null) {
            timer = ctx.channel()
                    .eventLoop()
                    .schedule(
                            () -> malformed(ctx),
                            inspector.settings().handshakeMax().toMillis(),
                            TimeUnit.MILLISECONDS);
        }
    }

    private void malformed(ChannelHandlerContext ctx) {
        inspector
                .findings()
                .found(Finding.MALFORMED_TLS, connection.destination().text());
        ((GuestTcpChannel) ctx.channel()).reset();
    }

    private void judged(ChannelHandlerContext ctx, Verdict verdict) {
        if (ctx.isRemoved()) {
            return;
        }
        if (verdict.allowed()) {
            letThrough(ctx);
        } else {
            ctx.writeAndFlush(TlsAlert.ACCESS_DENIED.record());
            ctx.close();
        }
    }

    private void letThrough(ChannelHandlerContext ctx) {
        judging = false;
        ByteBuf all = first;
        first = Unpooled.EMPTY_BUFFER;
        hold(ctx, -held);
        ctx.fireChannelRead(all);
        ctx.fireChannelReadComplete();
        if (finished) {
            ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
        if (wantsRead) {
            ctx.read();
        }
        if (!ctx.isRemoved()) {
            ctx.pipeline().remove(this);
        }
    }

    private void hold(ChannelHandlerContext ctx, long octets) {
        held += octets;
        ((GuestTcpChannel) ctx.channel()).hold(octets);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            finished = true;
            if (!judging) {
                letThrough(ctx); // there will be no more of a hello
            }
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        ScheduledFuture<?> running = timer;
        if (running != null) {
            running.cancel(false);
        }
        first.release();
        first = Unpooled.EMPTY_BUFFER;
    }
}
