package blackbox.node.record;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/// A server of calls in HTTP/2 on the host's loopback: answers each with its body, and with trailers.
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows in what the guest prints
final class Http2Upstream implements AutoCloseable {
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final List<String> reached = new CopyOnWriteArrayList<>();
    private final Channel server;

    Http2Upstream(SSLContext context) throws InterruptedException {
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        SSLEngine engine = context.createSSLEngine();
                        engine.setUseClientMode(false);
                        SSLParameters parameters = engine.getSSLParameters();
                        parameters.setApplicationProtocols(new String[] {"h2"});
                        engine.setSSLParameters(parameters);
                        channel.pipeline()
                                .addLast(
                                        new SslHandler(engine),
                                        Http2FrameCodecBuilder.forServer().build(),
                                        new Calls());
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    private final class Calls extends ChannelInboundHandlerAdapter {
        private final Map<Http2FrameStream, String> bodies = new HashMap<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2HeadersFrame head) {
                reached.add(head.headers().method() + " " + head.headers().authority()
                        + head.headers().path());
                bodies.put(head.stream(), "");
            } else if (message instanceof Http2DataFrame data) {
                ByteBuf octets = data.content();
                bodies.merge(data.stream(), octets.toString(StandardCharsets.US_ASCII), String::concat);
                if (data.isEndStream()) {
                    answer(ctx, data.stream());
                }
            }
            ReferenceCountUtil.release(message);
        }

        private void answer(ChannelHandlerContext ctx, Http2FrameStream stream) {
            var head = new DefaultHttp2Headers().status("200").add("content-type", "application/grpc");
            byte[] body = ("echo of " + bodies.remove(stream)).getBytes(StandardCharsets.US_ASCII);
            ctx.write(new DefaultHttp2HeadersFrame(head).stream(stream));
            ctx.write(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(body)).stream(stream));
            var trailer = new DefaultHttp2Headers().add("grpc-status", "0");
            ctx.writeAndFlush(new DefaultHttp2HeadersFrame(trailer, true).stream(stream));
        }
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /// The calls that came.
    List<String> reached() {
        return reached;
    }

    @Override
    public void close() {
        server.close();
        loops.shutdownGracefully();
    }
}
