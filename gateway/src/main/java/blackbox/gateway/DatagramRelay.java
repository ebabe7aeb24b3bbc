package blackbox.gateway;

import blackbox.gateway.dial.DialException;
import blackbox.gateway.dial.Dialer;
import blackbox.gateway.dial.Place;
import blackbox.gateway.dial.Sockets;
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
import java.net.InetSocketAddress;

/// Relays the datagrams of an allowed flow, over a socket of its own that knows only its destination. Owned by the
/// loop.
final class DatagramRelay {
    private final EventLoop loop;
    private final Dialer dialer;
    private final Sockets sockets;

    DatagramRelay(EventLoop loop, Dialer dialer, Sockets sockets) {
        this.loop = loop;
        this.dialer = dialer;
        this.sockets = sockets;
    }

    void serve(DatagramFlow flow, Destination destination, Verdict verdict, Egress egress) {
        HostPort to = Egress.dialled(destination, verdict);
        dialer.places(to.host(), egress.reach(destination, verdict)).whenComplete((places, failure) -> {
            if (failure != null) {
                flow.refuse(egress.notReached(flow.flow(), destination, to.port(), Dialer.reason(failure)));
                return;
            }
            Place place = places.getFirst();
            ChannelFuture connected = new Bootstrap()
                    .group(loop)
                    .channelFactory(sockets::datagram)
                    .handler(new FromOutside(flow))
                    .connect(new InetSocketAddress(place.address(), to.port()));
            connected.addListener(_ -> loop.execute(() -> {
                if (!connected.isSuccess()) {
                    var why = new DialException(DialException.Cause.UNREACHABLE, String.valueOf(connected.cause()));
                    flow.refuse(egress.notReached(flow.flow(), destination, to.port(), why));
                } else if (flow.isWaiting()) {
                    egress.connected(flow.flow(), destination, verdict, place, to.port());
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
