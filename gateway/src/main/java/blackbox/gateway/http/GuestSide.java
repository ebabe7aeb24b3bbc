package blackbox.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import org.jspecify.annotations.Nullable;

/// The guest's connection of a session: the last handler of its pipeline. Owned by the loop.
final class GuestSide extends ChannelInboundHandlerAdapter {
    private final HttpSession session;
    private @Nullable ChannelHandlerContext context;

    GuestSide(HttpSession session) {
        this.session = session;
    }

    /// Its place in the pipeline, through which the guest is written to.
    ChannelHandlerContext context() {
        ChannelHandlerContext known = context;
        if (known == null) {
            throw new IllegalStateException("a session outside of a pipeline");
        }
        return known;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        session.take((ByteBuf) message);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        session.guestWritable();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent || event instanceof SslCloseCompletionEvent) {
            session.guestFinished();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        session.guestFailed(cause);
        var unused = ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        session.guestGone();
    }
}
