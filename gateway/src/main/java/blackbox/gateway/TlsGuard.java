package blackbox.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;

/// Stands between a channel and its TLS, which answers by itself: a key update with another, and a handshake keeps what
/// comes while it computes. A side that takes no answers is therefore not read, and in a handshake only so much.
final class TlsGuard extends ChannelDuplexHandler {
    /// Far more than any handshake; certificates are the longest of it.
    private static final int HANDSHAKE_BYTES_MAX = 256 << 10;

    private final SslHandler tls;
    private long received;
    private boolean wantsRead;

    private TlsGuard(SslHandler tls) {
        this.tls = tls;
    }

    /// Puts TLS at the beginning of a pipeline, and this before it.
    static void add(Channel channel, SslHandler tls) {
        channel.pipeline().addFirst(tls).addFirst(new TlsGuard(tls));
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        wantsRead = !ctx.channel().isWritable();
        if (!wantsRead) {
            ctx.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (wantsRead && ctx.channel().isWritable()) {
            wantsRead = false;
            ctx.read();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        received += ((ByteBuf) message).readableBytes();
        if (received > HANDSHAKE_BYTES_MAX && !tls.handshakeFuture().isDone()) {
            ReferenceCountUtil.release(message);
            var unused = ctx.close();
            return;
        }
        ctx.fireChannelRead(message);
    }
}
