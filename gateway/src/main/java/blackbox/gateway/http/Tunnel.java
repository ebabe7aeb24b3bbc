package blackbox.gateway.http;

import blackbox.gateway.egress.Metered;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.util.concurrent.TimeUnit;

/// Relays octets between two pipelines, TLS in them or not. The end of either side is that of both: what was said
/// before still arrives.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
public final class Tunnel extends ChannelInboundHandlerAdapter {
    /// What waits to be written when the other side has ended may wait so long.
    private static final long LAST_WRITES_S_MAX = 30;

    private final GuestTcpChannel guest;
    private final Metered metered;
    private final Channel from;
    private final Channel to;

    private final boolean fromGuest;

    private Tunnel(GuestTcpChannel guest, Metered metered, Channel from, Channel to) {
        this.metered = metered;
        this.fromGuest = from instanceof GuestTcpChannel;
        this.guest = guest;
        this.from = from;
        this.to = to;
    }

    /// Joins the two, with what was read before; takes ownership of it.
    ///
    /// @param metered asked of what passes, which has begun
    public static void join(
            GuestTcpChannel guest, ByteBuf fromGuest, DuplexChannel upstream, ByteBuf fromUpstream, Metered metered) {
        guest.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        upstream.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        var out = new Tunnel(guest, metered, guest, upstream);
        var in = new Tunnel(guest, metered, upstream, guest);
        guest.pipeline().addLast(out);
        upstream.pipeline().addLast(in);
        out.forward(fromGuest);
        in.forward(fromUpstream);
        upstream.flush();
        guest.flush();
        guest.config().setAutoRead(upstream.isWritable());
        upstream.config().setAutoRead(guest.isWritable());
        if (!upstream.isActive() || !guest.isActive()) {
            upstream.close();
            guest.close();
        }
    }

    private void forward(ByteBuf octets) {
        if (!to.isActive()) { // what cannot pass is not counted, and is no reason to cut what still arrives
            octets.release();
            return;
        }
        int count = octets.readableBytes();
        if (!(fromGuest ? metered.sends(count) : metered.receives(count))) {
            octets.release();
            guest.reset();
            from.close();
            to.close();
            return;
        }
        if (!fromGuest) {
            to.write(octets);
            return;
        }
        guest.hold(count);
        to.write(octets).addListener(_ -> guest.hold(-count));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        forward((ByteBuf) message);
        if (!to.isWritable()) {
            from.config().setAutoRead(false);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        to.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        to.config().setAutoRead(ctx.channel().isWritable());
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslCloseCompletionEvent || event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }

    /// A channel that is closed forgets what it could not write yet.
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        var limit = to.eventLoop().schedule(() -> to.close(), LAST_WRITES_S_MAX, TimeUnit.SECONDS);
        to.closeFuture().addListener(_ -> {
            limit.cancel(false);
            metered.over();
        });
        to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
}
