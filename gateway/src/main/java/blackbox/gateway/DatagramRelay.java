package blackbox.gateway;

import blackbox.gateway.dial.DialException;
import blackbox.gateway.dial.Dialer;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.FlowEnd;
import blackbox.gateway.egress.FlowEnd.How;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.DatagramFlow;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.nio.NioDatagramChannel;
import java.net.InetSocketAddress;

/// Relays the datagrams of an allowed flow, over a socket of its own that knows only its destination. Owned by the
/// loop.
final class DatagramRelay {
    private final EventLoop loop;
    private final Dialer dialer;

    DatagramRelay(EventLoop loop, Dialer dialer) {
        this.loop = loop;
        this.dialer = dialer;
    }

    void serve(DatagramFlow flow, Destination destination, Verdict verdict, Egress egress) {
        HostPort to = Egress.dialled(destination, verdict);
        dialer.addresses(to.host(), egress.reach(destination, verdict)).whenComplete((addresses, failure) -> {
            if (failure != null) {
                flow.refuse(egress.notReached(flow.flow(), destination, verdict, Dialer.reason(failure)));
                return;
            }
            var address = new InetSocketAddress(addresses.getFirst(), to.port());
            ChannelFuture connected = new Bootstrap()
                    .group(loop)
                    .channel(NioDatagramChannel.class)
                    .handler(new FromOutside(flow))
                    .connect(address);
            connected.addListener(_ -> loop.execute(() -> {
                if (!connected.isSuccess()) {
                    var why = new DialException(DialException.Cause.UNREACHABLE, String.valueOf(connected.cause()));
                    flow.refuse(egress.notReached(flow.flow(), destination, verdict, why));
                } else if (flow.isWaiting()) {
                    egress.connected(flow.flow(), destination, verdict, address);
                    flow.start(new FromGuest(connected.channel(), flow, destination, egress));
                } else {
                    var unused = connected.channel().close();
                    egress.ended(new FlowEnd(flow.flow(), destination.host(), 0, 0, How.EVICTED));
                }
            }));
        });
    }

    private record FromGuest(Channel channel, DatagramFlow flow, Destination destination, Egress egress)
            implements DatagramFlow.Receiver {
        @Override
        public void received(byte[] payload) {
            if (channel.isWritable()) { // what the host cannot send now is lost, as datagrams are
                var unused = channel.writeAndFlush(Unpooled.wrappedBuffer(payload));
            }
        }

        @Override
        public void ended(How how, long octetsOut, long octetsIn) {
            var unused = channel.close();
            egress.ended(new FlowEnd(flow.flow(), destination.host(), octetsOut, octetsIn, how));
        }
    }

    private static final class FromOutside extends SimpleChannelInboundHandler<DatagramPacket> {
        private final DatagramFlow flow;

        FromOutside(DatagramFlow flow) {
            this.flow = flow;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
            flow.send(ByteBufUtil.getBytes(packet.content()));
        }

        /// Such as that nobody listens there: the socket remains, and the next datagram may fare better.
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {}
    }
}
