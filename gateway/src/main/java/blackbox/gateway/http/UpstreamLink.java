package blackbox.gateway.http;

import blackbox.gateway.egress.HostPort;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The connection to the other side that belongs to one guest's connection, with what it answers. Owned by the loop.
final class UpstreamLink extends ChannelInboundHandlerAdapter {
    private final DuplexChannel channel;
    private final HttpSession session;
    private final boolean encrypted;
    private final @Nullable HostPort upstream;
    final HttpReader reader;

    /// That of the requests that went over it; null before the first.
    private @Nullable Route route;

    private boolean saidClose;
    private boolean broken;
    private boolean left;

    /// @param upstream what was dialled in place of the destination; null for itself
    UpstreamLink(DuplexChannel channel, HttpSession session, boolean encrypted, @Nullable HostPort upstream) {
        this.channel = channel;
        this.session = session;
        this.encrypted = encrypted;
        this.upstream = upstream;
        this.reader = new HttpReader(channel.alloc());
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
    }

    void join() {
        channel.pipeline().addLast(this);
    }

    DuplexChannel channel() {
        return channel;
    }

    /// Whether it is open, and a request may go over it.
    boolean takes(Route next) {
        boolean leadsThere = Objects.equals(upstream, next.upstream()) && (route == null || route.equals(next));
        return leadsThere && channel.isActive() && !saidClose;
    }

    boolean isWritable() {
        return channel.isWritable();
    }

    /// Writes a head, and clears it when it is written.
    void writeHead(byte[] head, Route by) {
        route = by;
        channel.write(Unpooled.wrappedBuffer(head)).addListener(_ -> Arrays.fill(head, (byte) 0));
    }

    ChannelFuture write(ByteBuf octets) {
        return channel.write(octets);
    }

    void flush() {
        channel.flush();
    }

    void read(boolean now) {
        channel.config().setAutoRead(now);
    }

    /// Whether the end of the connection was said: in TLS, so that nobody else can have.
    boolean endIsCertain() {
        return saidClose || !encrypted && !broken;
    }

    /// Ends it, without telling the session.
    void leave() {
        if (!left) {
            left = true;
            reader.close();
            var unused = channel.close();
        }
    }

    /// Gives the channel to someone else.
    void handOver() {
        left = true;
        channel.pipeline().remove(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (left) {
            ((ByteBuf) message).release();
            return;
        }
        reader.add((ByteBuf) message);
        session.upstreamRead(this);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (!left) {
            session.upstreamPaused();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (!left) {
            session.upstreamWritable();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof SslCloseCompletionEvent closed && closed.isSuccess()) {
            saidClose = true;
            var unused = ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        broken = true;
        var unused = ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (!left) {
            session.upstreamClosed(this);
        }
    }
}
