package blackbox.bench.subject;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.stream.ChunkedInput;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The server that everything measured leads to: HTTP/1.1 on two loopback ports, one over TLS, by Netty on one thread
/// of this process. `/small` has 200 octets, `/bulk` 16 MiB.
public final class Origin implements AutoCloseable {
    /// Its name to guests of the gateway; it also has a certificate for `localhost`.
    public static final String NAME = "bench.example";

    private static final int SMALL_BYTES = 200;
    /// The length of `/bulk`.
    public static final long BULK_BYTES = 16 << 20;
    private static final int PIECE_BYTES = 64 << 10;
    private static final int REQUEST_BYTES_MAX = 1 << 16;

    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Path certificate;
    private final int port;
    private final int plainPort;

    /// Starts it.
    ///
    /// @param folder for its key and certificate
    public static Origin start(Path folder) throws IOException, InterruptedException {
        Path certificate = folder.resolve("origin.pem");
        Path key = folder.resolve("origin.key");
        SelfSigned.write(certificate, key, List.of("DNS:" + NAME, "DNS:localhost", "IP:127.0.0.1"));
        SslContext tls =
                SslContextBuilder.forServer(certificate.toFile(), key.toFile()).build();
        return new Origin(certificate, tls);
    }

    private Origin(Path certificate, SslContext tls) throws InterruptedException {
        this.certificate = certificate;
        port = bind(tls);
        plainPort = bind(null);
    }

    private int bind(@Nullable SslContext tls) throws InterruptedException {
        var channel = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        if (tls != null) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        channel.pipeline()
                                .addLast(new HttpServerCodec(), new HttpObjectAggregator(REQUEST_BYTES_MAX))
                                .addLast(new ChunkedWriteHandler(), new Answers());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    /// Whom it is certified by: itself.
    public Path certificate() {
        return certificate;
    }

    /// With TLS.
    public int port() {
        return port;
    }

    /// Without TLS.
    public int plainPort() {
        return plainPort;
    }

    /// Serves the two files.
    private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            boolean kept = HttpUtil.isKeepAlive(request);
            boolean bulk = request.uri().endsWith("/bulk");
            HttpResponse response = bulk
                    ? new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK)
                    : new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(new byte[SMALL_BYTES]));
            HttpUtil.setContentLength(response, bulk ? BULK_BYTES : SMALL_BYTES);
            HttpUtil.setKeepAlive(response, kept);
            ChannelFuture written = ctx.write(response);
            if (bulk) {
                var unused = ctx.write(new Zeros(BULK_BYTES));
                written = ctx.write(LastHttpContent.EMPTY_LAST_CONTENT);
            }
            if (!kept) {
                var unused = written.addListener(ChannelFutureListener.CLOSE);
            }
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            var unused = ctx.close(); // the load generator counts what failed
        }
    }

    /// So many octets of zero, in pieces, no sooner than they are taken.
    private static final class Zeros implements ChunkedInput<ByteBuf> {
        private static final ByteBuf PIECE = Unpooled.unreleasableBuffer(
                Unpooled.directBuffer(PIECE_BYTES).writeZero(PIECE_BYTES).asReadOnly());

        private final long length;
        private long done;

        Zeros(long length) {
            this.length = length;
        }

        @Override
        public boolean isEndOfInput() {
            return done == length;
        }

        @Override
        public void close() {}

        @Override
        @Deprecated
        public ByteBuf readChunk(ChannelHandlerContext ctx) {
            return readChunk(ctx.alloc());
        }

        @Override
        public ByteBuf readChunk(ByteBufAllocator allocator) {
            int count = (int) Math.min(PIECE_BYTES, length - done);
            done += count;
            return PIECE.slice(0, count);
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public long progress() {
            return done;
        }
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
