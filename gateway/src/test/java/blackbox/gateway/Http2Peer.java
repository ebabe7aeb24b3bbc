package blackbox.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2SettingsFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Frame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// One end of HTTP/2 on a socket with TLS: Netty's codec, which checks nothing that it sends, and what came. A thread
/// reads.
@SuppressWarnings("FutureReturnValueIgnored") // what fails is told to the pipeline
final class Http2Peer implements AutoCloseable {
    private final SSLSocket socket;
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Frames frames = new Frames();
    private final LinkedBlockingQueue<Stream> begun = new LinkedBlockingQueue<>();
    private final Map<Integer, Stream> streams = new LinkedHashMap<>();
    private boolean takes = true;
    private long sentOctets;
    private @Nullable Long goneAway;
    private boolean ended;
    private @Nullable String failure;

    /// What came on a stream. Guarded by the channel.
    final class Stream {
        final Http2FrameStream frames;
        final List<String> heads = new ArrayList<>();
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private boolean whole;
        private @Nullable Long reset;
        private int untaken;

        Stream(Http2FrameStream frames) {
            this.frames = frames;
        }

        void head(boolean last, String... namesAndValues) {
            write(new DefaultHttp2HeadersFrame(headers(namesAndValues), last).stream(frames));
        }

        void data(String text, boolean last) {
            data(text.getBytes(StandardCharsets.ISO_8859_1), last);
        }

        void data(byte[] octets, boolean last) {
            write(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(octets), last).stream(frames));
        }

        void reset(Http2Error error) {
            write(new DefaultHttp2ResetFrame(error).stream(frames));
        }

        /// The first head; interim answers are heads, too.
        String awaitHead() throws InterruptedException {
            await("no head", () -> !heads.isEmpty());
            return head(0);
        }

        String head(int index) {
            synchronized (channel) {
                return heads.get(index);
            }
        }

        /// All of its body.
        String awaitWhole() throws InterruptedException {
            await("the stream is not whole", () -> whole);
            return body();
        }

        String awaitBody(int octets) throws InterruptedException {
            await("too little came", () -> body.size() >= octets);
            return body();
        }

        String body() {
            synchronized (channel) {
                return body.toString(StandardCharsets.ISO_8859_1);
            }
        }

        int length() {
            synchronized (channel) {
                return body.size();
            }
        }

        boolean isWhole() {
            synchronized (channel) {
                return whole;
            }
        }

        Http2Error awaitReset() throws InterruptedException {
            await("it is not reset", () -> reset != null);
            synchronized (channel) {
                return Http2Error.valueOf(reset == null ? -1 : reset);
            }
        }

        @Override
        public String toString() {
            synchronized (channel) {
                return frames.id() + " " + heads + " " + body.size() + " whole " + whole + " reset " + reset;
            }
        }
    }

    private final class Frames extends Http2ChannelDuplexHandler {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            switch (message) {
                case Http2HeadersFrame head -> {
                    Stream stream = stream(head.stream());
                    stream.heads.add(text(head.headers()));
                    stream.whole |= head.isEndStream();
                }
                case Http2DataFrame data -> {
                    Stream stream = stream(data.stream());
                    byte[] octets = new byte[data.content().readableBytes()];
                    data.content().readBytes(octets);
                    stream.body.writeBytes(octets);
                    stream.whole |= data.isEndStream();
                    stream.untaken += data.initialFlowControlledBytes();
                    data.release();
                    if (takes) {
                        take(stream);
                    }
                }
                case Http2ResetFrame reset -> stream(reset.stream()).reset = reset.errorCode();
                case Http2GoAwayFrame away -> {
                    goneAway = away.errorCode();
                    away.release();
                }
                default -> ReferenceCountUtil.release(message);
            }
        }

        private void take(Stream stream) {
            if (stream.untaken > 0) {
                channel.write(new DefaultHttp2WindowUpdateFrame(stream.untaken).stream(stream.frames));
                stream.untaken = 0;
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = String.valueOf(cause);
        }
    }

    private Http2Peer(SSLSocket socket, Http2FrameCodecBuilder builder, Http2Settings settings) {
        this.socket = socket;
        Http2FrameCodec codec = builder.initialSettings(settings)
                .validateHeaders(false)
                .decoupleCloseAndGoAway(true)
                .encoderIgnoreMaxHeaderListSize(true)
                .build();
        synchronized (channel) {
            channel.pipeline().addLast(codec, frames);
        }
    }

    static Http2Peer client(SSLSocket socket, Http2Settings settings) throws IOException {
        offer(socket, "h2");
        return new Http2Peer(socket, Http2FrameCodecBuilder.forClient(), settings).start();
    }

    static Http2Peer client(SSLSocket socket) throws IOException {
        return client(socket, new Http2Settings().initialWindowSize(1 << 20));
    }

    static Http2Peer server(SSLSocket socket, Http2Settings settings) throws IOException {
        offer(socket, "h2");
        return new Http2Peer(socket, Http2FrameCodecBuilder.forServer(), settings).start();
    }

    static Http2Peer server(SSLSocket socket) throws IOException {
        return server(socket, new Http2Settings().maxConcurrentStreams(1_000).initialWindowSize(1 << 20));
    }

    static void offer(SSLSocket socket, String... protocols) {
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
    }

    private Http2Peer start() {
        Thread.ofPlatform().daemon().name("h2-peer").start(this::read);
        return this;
    }

    private void read() {
        try {
            socket.setSoTimeout(0);
            InputStream in = socket.getInputStream();
            var octets = new byte[32 << 10];
            socket.startHandshake(); // without the lock, since the other end may wait for whoever wants it
            send();
            for (int count = in.read(octets); count >= 0; count = in.read(octets)) {
                synchronized (channel) {
                    channel.writeInbound(Unpooled.copiedBuffer(octets, 0, count));
                    send();
                    channel.notifyAll();
                }
            }
        } catch (IOException e) {
            failure = failure == null ? e.toString() : failure;
        } finally {
            synchronized (channel) {
                ended = true;
                channel.finishAndReleaseAll();
                channel.notifyAll();
            }
        }
    }

    /// Sends what the codec has written.
    private void send() throws IOException {
        synchronized (channel) {
            channel.runPendingTasks();
            channel.flushOutbound();
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                var octets = new byte[out.readableBytes()];
                out.readBytes(octets).release();
                socket.getOutputStream().write(octets);
                sentOctets += octets.length;
            }
            socket.getOutputStream().flush();
        }
    }

    private void write(Http2Frame frame) {
        synchronized (channel) {
            if (ended) {
                ReferenceCountUtil.release(frame);
                return;
            }
            channel.write(frame);
            try {
                send();
            } catch (IOException e) {
                failure = e.toString();
            }
        }
    }

    private Stream stream(@Nullable Http2FrameStream of) {
        if (of == null) {
            throw new IllegalStateException("a frame of no stream");
        }
        return streams.computeIfAbsent(of.id(), _ -> {
            var stream = new Stream(of);
            begun.add(stream);
            return stream;
        });
    }

    static Http2Headers headers(String... namesAndValues) {
        var headers = new DefaultHttp2Headers(false);
        for (int at = 0; at < namesAndValues.length; at += 2) {
            headers.add(namesAndValues[at], namesAndValues[at + 1]);
        }
        return headers;
    }

    private static String text(Http2Headers headers) {
        var fields = new ArrayList<String>();
        headers.forEach(each -> fields.add(each.getKey() + "=" + each.getValue()));
        return String.join(" ", fields);
    }

    /// Sends what the codec would not.
    void raw(byte[] octets) throws IOException {
        synchronized (channel) {
            socket.getOutputStream().write(octets);
            socket.getOutputStream().flush();
        }
    }

    /// Opens a stream.
    Stream request(boolean last, String... namesAndValues) {
        synchronized (channel) {
            var stream = new Stream(frames.newStream());
            stream.head(last, namesAndValues);
            streams.put(stream.frames.id(), stream);
            return stream;
        }
    }

    /// A GET of the usual form.
    Stream get(String target) {
        return request(true, ":method", "GET", ":scheme", "https", ":authority", Inspected.NAME, ":path", target);
    }

    /// The next stream that the other end opened.
    Stream accept() throws InterruptedException {
        Stream stream = begun.poll(TestGuest.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (stream == null) {
            throw new AssertionError("no stream came: " + failure);
        }
        return stream;
    }

    boolean hasStreams() {
        return !begun.isEmpty();
    }

    /// How much it could send, heads included.
    long sentOctets() {
        synchronized (channel) {
            return sentOctets;
        }
    }

    void goAway() {
        write(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
    }

    /// Lets nothing more come than the windows allow, or again everything.
    void take(boolean now) {
        synchronized (channel) {
            takes = now;
            if (now) {
                streams.values().forEach(frames::take);
                try {
                    send();
                } catch (IOException e) {
                    failure = e.toString();
                }
            }
        }
    }

    /// Opens the windows of all streams, and those to come.
    void window(int octets) {
        write(new DefaultHttp2SettingsFrame(new Http2Settings().initialWindowSize(octets)));
    }

    Http2Error awaitGoAway() throws InterruptedException {
        await("no GOAWAY", () -> goneAway != null);
        synchronized (channel) {
            return Http2Error.valueOf(goneAway == null ? -1 : goneAway);
        }
    }

    void awaitEnd() throws InterruptedException {
        await("the connection does not end", () -> ended);
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TestGuest.LIMIT.toNanos();
        synchronized (channel) {
            while (!condition.getAsBoolean()) {
                long left = (end - System.nanoTime()) / 1_000_000;
                if (left <= 0 || ended && !condition.getAsBoolean()) {
                    throw new AssertionError(what + "; ended " + ended + ", " + failure + ", " + streams);
                }
                channel.wait(left);
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
