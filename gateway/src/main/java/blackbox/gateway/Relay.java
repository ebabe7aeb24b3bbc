package blackbox.gateway;

import blackbox.gateway.egress.Metered;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;

/// Both ends of one connection, whose octets are relayed as they are. Each direction is read only while the other side
/// takes what was read, and ends by itself. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class Relay {
    private final DuplexChannel upstream;
    private final Metered metered;
    private boolean guestFinished;
    private boolean upstreamFinished;

    /// @param metered asked of what passes, which has begun
    Relay(DuplexChannel upstream, Metered metered) {
        this.upstream = upstream;
        this.metered = metered;
    }

    /// What reads the guest's octets: the last of its pipeline.
    ChannelHandler guestSide() {
        return new GuestSide();
    }

    /// Begins, once the guest's channel has its side.
    void start(GuestTcpChannel guest) {
        guest.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        upstream.pipeline().addLast(new UpstreamSide(guest));
        upstream.config().setAutoRead(guest.isWritable());
    }

    /// Says to the other side that the guest has no more, after all that it had.
    private void finishUpstream() {
        upstream.writeAndFlush(Unpooled.EMPTY_BUFFER)
                .addListener(_ -> upstream.shutdownOutput().addListener(_ -> {
                    guestFinished = true;
                    closeIfDone();
                }));
    }

    private void closeIfDone() {
        if (guestFinished && upstreamFinished) {
            upstream.close();
        }
    }

    /// Ends both sides at once, without the octets that were next.
    private void cut(ByteBuf next, GuestTcpChannel guest) {
        next.release();
        resetUpstream();
        guest.reset();
    }

    private void resetUpstream() {
        if (upstream.isOpen()) {
            upstream.config().setOption(ChannelOption.SO_LINGER, 0);
            upstream.close();
        }
    }

    private final class GuestSide extends ChannelInboundHandlerAdapter {
        private boolean finished;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            var guest = (GuestTcpChannel) ctx.channel();
            int octets = ((ByteBuf) message).readableBytes();
            if (!metered.sends(octets)) {
                cut((ByteBuf) message, guest);
                return;
            }
            guest.hold(octets);
            upstream.write(message).addListener(_ -> guest.hold(-octets));
            if (!upstream.isWritable()) {
                guest.config().setAutoRead(false);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            upstream.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            upstream.config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                finished = true;
                finishUpstream();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            finished = true;
            resetUpstream();
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            metered.over();
            if (!finished) {
                resetUpstream();
            }
        }
    }

    private final class UpstreamSide extends ChannelInboundHandlerAdapter {
        private final GuestTcpChannel guest;

        UpstreamSide(GuestTcpChannel guest) {
            this.guest = guest;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (!metered.receives(((ByteBuf) message).readableBytes())) {
                cut((ByteBuf) message, guest);
                return;
            }
            guest.write(message);
            if (!guest.isWritable()) {
                upstream.config().setAutoRead(false);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            guest.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            guest.config().setAutoRead(ctx.channel().isWritable());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                upstreamFinished = true;
                guest.flush();
                guest.shutdownOutput();
                closeIfDone();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            guest.reset();
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            metered.over();
            if (!(guestFinished && upstreamFinished)) {
                guest.reset();
            }
        }
    }
}
