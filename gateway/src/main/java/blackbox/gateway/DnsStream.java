package blackbox.gateway;

import blackbox.gateway.dns.NameService;
import blackbox.gateway.egress.Flow;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.util.concurrent.TimeUnit;

/// DNS over TCP: each message is preceded by its length, 16 bits (RFC 7766).
final class DnsStream extends SimpleChannelInboundHandler<ByteBuf> {
    /// Far more than a question has.
    private static final int MESSAGE_BYTES_MAX = 1_024;
    private static final long OPEN_S_MAX = 30;
    private static final int LENGTH_BYTES = 2;
    /// Questions of one connection that are answered at the same time.
    private static final int PENDING_MAX = 16;

    private final Flow flow;
    private final NameService names;
    private int pending;

    private DnsStream(Flow flow, NameService names) {
        this.flow = flow;
        this.names = names;
    }

    /// Prepares the pipeline of a connection.
    static final class Initializer extends ChannelInitializer<Channel> {
        private final Flow flow;
        private final NameService names;

        Initializer(Flow flow, NameService names) {
            this.flow = flow;
            this.names = names;
        }

        @Override
        protected void initChannel(Channel channel) {
            var unused = channel.eventLoop().schedule(() -> end(channel), OPEN_S_MAX, TimeUnit.SECONDS);
            channel.pipeline()
                    .addLast(new LengthFieldBasedFrameDecoder(MESSAGE_BYTES_MAX, 0, LENGTH_BYTES, 0, LENGTH_BYTES))
                    .addLast(new DnsStream(flow, names));
        }
    }

    private static void end(Channel channel) {
        var unused = channel.close();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
        pending++;
        readIfRoom(ctx);
        boolean isQuestion = names.answer(flow, ByteBufUtil.getBytes(message), answer -> {
            pending--;
            ByteBuf framed = ctx.alloc().buffer(LENGTH_BYTES + answer.length);
            framed.writeShort(answer.length).writeBytes(answer);
            var unused = ctx.writeAndFlush(framed);
            readIfRoom(ctx);
        });
        if (!isQuestion) {
            var unused = ctx.close(); // no resolver sends that
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        readIfRoom(ctx);
    }

    private void readIfRoom(ChannelHandlerContext ctx) {
        ctx.channel()
                .config()
                .setAutoRead(pending < PENDING_MAX && ctx.channel().isWritable());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof DecoderException) {
            names.malformed("no messages over TCP");
        }
        var unused = ctx.close(); // else the guest broke it off
    }
}
