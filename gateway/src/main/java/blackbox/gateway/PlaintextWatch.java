package blackbox.gateway;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.PlaintextTap;
import blackbox.gateway.egress.PlaintextTap.End;
import blackbox.gateway.stack.ConnectionResetException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Stands behind the TLS of a guest's connection and tells of all that passes.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class PlaintextWatch extends ChannelDuplexHandler {
    private final Flow flow;
    private final GatewayListener listener;
    private @Nullable PlaintextTap tap;
    private boolean finished;
    private boolean over;

    PlaintextWatch(Flow flow, GatewayListener listener) {
        this.flow = flow;
        this.listener = listener;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        PlaintextTap told = tap;
        if (told != null && !over) {
            for (ByteBuffer part : ((ByteBuf) message).nioBuffers()) {
                told.sent(part);
            }
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        PlaintextTap told = tap;
        if (told != null && !over) {
            for (ByteBuffer part : ((ByteBuf) message).nioBuffers()) {
                told.received(part);
            }
        }
        ctx.write(message, promise);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess() && tap == null) {
            tap = listener.opened(flow);
        }
        if (event instanceof SslCloseCompletionEvent || event instanceof ChannelInputShutdownEvent) {
            finished();
        }
        ctx.fireUserEventTriggered(event);
    }

    private void finished() {
        PlaintextTap told = tap;
        if (told != null && !finished && !over) {
            finished = true;
            told.finished();
        }
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        if (ctx.channel() instanceof DuplexChannel guest && guest.isActive() && guest.isInputShutdown()) {
            finished(); // it closed TCP alone
        }
        over(End.CLOSED);
        ctx.close(promise);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof ConnectionResetException reset) {
            over(reset.how() == FlowEnd.How.RESET_BY_GUEST ? End.RESET_BY_GUEST : End.RESET);
        }
        ctx.fireExceptionCaught(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        over(End.RESET);
        ctx.fireChannelInactive();
    }

    private void over(End how) {
        PlaintextTap told = tap;
        if (told != null && !over) {
            over = true;
            told.over(how);
        }
    }
}
