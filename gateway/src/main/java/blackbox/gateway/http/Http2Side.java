package blackbox.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Frame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2FrameStreamEvent;
import io.netty.handler.codec.http2.Http2FrameStreamException;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// HTTP/2 on one of the two connections: the last of its pipeline, behind Netty's codec, which makes frames and HPACK,
/// and keeps to the rules of streams and windows.
///
/// What may be sent to it is bounded by the windows that it announces, which only [#credit] opens again: so octets are
/// taken from one side as the other side takes them. What it sends has nothing in HPACK's table, neither secrets nor
/// what the peer could make it keep. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // what fails to be written or closed is told to the handlers
final class Http2Side extends Http2ChannelDuplexHandler {
    static final int STREAMS_MAX = 100;
    /// What streams may hold, and all of a connection: a few that stand still do not stop the others.
    private static final int GUEST_STREAM_WINDOW = 64 << 10;

    static final int GUEST_WINDOW = 256 << 10;
    private static final int UPSTREAM_STREAM_WINDOW = 128 << 10;
    private static final int UPSTREAM_WINDOW = 512 << 10;
    private static final int RESETS_MAX = 200;
    private static final int RESETS_S = 30;
    private static final int EMPTY_DATA_MAX = 2;
    private static final int SMALL_CONTINUATIONS_MAX = 16;
    private static final int WHY_MAX = 160;

    private final Channel channel;
    private final Start start = new Start();
    private final Http2FrameCodec codec;
    private final Receiver receiver;
    private final int window;
    private boolean reads = true;
    private boolean flushDue;
    private boolean ended;

    /// Before the codec, which by itself reads on, however the channel is set.
    private final class Start extends ChannelDuplexHandler {
        @Override
        public void read(ChannelHandlerContext ctx) {
            if (reads) {
                ctx.read();
            }
        }
    }

    /// Is told what the peer does. Heads and data of a stream come until it is closed.
    interface Receiver {

        /// The peer has said how it is to be spoken to, for the first time or again.
        void began();

        void head(Http2FrameStream stream, Http2HeadersFrame head);

        /// @param data of which it takes ownership
        void data(Http2FrameStream stream, Http2DataFrame data);

        void reset(Http2FrameStream stream, long code);

        /// The stream has no more frames, in either direction.
        void closed(Http2FrameStream stream);

        /// No new streams are taken.
        void goingAway();

        /// The peer has broken a rule of a stream, which is to be reset.
        void streamFault(Http2FrameStream stream, Http2Error error, String why);

        /// The peer has broken a rule of the connection, which ends.
        void connectionFault(String why);

        /// It takes more, or no more for now.
        void writabilityChanged();

        /// The connection is over. Called once.
        ///
        /// @param cause null if it was closed
        void ended(@Nullable Throwable cause);
    }

    private Http2Side(Channel channel, Http2FrameCodec codec, int window, Receiver receiver) {
        this.window = window;
        this.channel = channel;
        this.codec = codec;
        this.receiver = receiver;
    }

    /// As the server of a guest.
    static Http2Side server(Channel channel, Receiver receiver) {
        var settings = new Http2Settings()
                .maxConcurrentStreams(STREAMS_MAX)
                .initialWindowSize(GUEST_STREAM_WINDOW)
                .maxHeaderListSize(HttpReader.FIELDS_BYTES_MAX);
        Http2FrameCodecBuilder builder = Http2FrameCodecBuilder.forServer()
                .decoderEnforceMaxRstFramesPerWindow(RESETS_MAX, RESETS_S)
                .encoderEnforceMaxRstFramesPerWindow(RESETS_MAX, RESETS_S);
        return new Http2Side(channel, codec(builder, settings), GUEST_WINDOW, receiver);
    }

    /// As a client of the other side.
    static Http2Side client(Channel channel, Receiver receiver) {
        var settings = new Http2Settings()
                .pushEnabled(false)
                .maxConcurrentStreams(0)
                .initialWindowSize(UPSTREAM_STREAM_WINDOW)
                .maxHeaderListSize(HttpReader.FIELDS_BYTES_MAX);
        return new Http2Side(channel, codec(Http2FrameCodecBuilder.forClient(), settings), UPSTREAM_WINDOW, receiver);
    }

    private static Http2FrameCodec codec(Http2FrameCodecBuilder builder, Http2Settings settings) {
        return builder.initialSettings(settings)
                .validateHeaders(false) // Http2Heads does, and says what is wrong
                .headerSensitivityDetector(Http2HeadersEncoder.ALWAYS_SENSITIVE)
                .encoderIgnoreMaxHeaderListSize(true)
                .encoderEnforceMaxQueuedControlFrames(0) // who takes no answers is not read (TlsGuard)
                .decoderEnforceMaxConsecutiveEmptyDataFrames(EMPTY_DATA_MAX)
                .decoderEnforceMaxSmallContinuationFrames(SMALL_CONTINUATIONS_MAX)
                .gracefulShutdownTimeoutMillis(0)
                .decoupleCloseAndGoAway(true)
                .build();
    }

    /// Takes over the pipeline.
    void join() {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        channel.pipeline().addLast(start).addLast(codec, this);
        Http2Connection connection = codec.connection();
        Http2LocalFlowController windows = connection.local().flowController();
        try {
            int more = window - windows.initialWindowSize(connection.connectionStream());
            windows.incrementWindowSize(connection.connectionStream(), more);
        } catch (Http2Exception e) {
            throw new IllegalStateException("a window that HTTP/2 does not have", e);
        }
        flushSoon();
    }

    /// Takes what was read before, and ownership of it.
    void take(ByteBuf before) {
        ChannelHandlerContext first = channel.pipeline().context(start);
        if (first == null) {
            before.release(); // it has ended since
            return;
        }
        first.fireChannelRead(before);
        first.fireChannelReadComplete();
    }

    boolean isActive() {
        return channel.isActive();
    }

    boolean isWritable() {
        return channel.isWritable();
    }

    /// Whether the peer takes one more stream now, as far as it has said.
    boolean takesStream() {
        return codec.connection().local().canOpenStream();
    }

    /// Does something when the frame at hand is done with.
    void onLoop(Runnable then) {
        channel.eventLoop().execute(then);
    }

    void read(boolean now) {
        reads = now;
        channel.config().setAutoRead(now);
    }

    // What it is sent.

    ChannelFuture head(Http2FrameStream stream, Http2Heads.Written head, boolean last) {
        return write(new DefaultHttp2HeadersFrame(head.headers(), last).stream(stream));
    }

    /// @param octets of which it takes ownership
    ChannelFuture data(Http2FrameStream stream, ByteBuf octets, boolean last) {
        return write(new DefaultHttp2DataFrame(octets, last).stream(stream));
    }

    void reset(Http2FrameStream stream, long code) {
        write(new DefaultHttp2ResetFrame(code).stream(stream));
    }

    /// Lets the peer send so much more, in place of what was taken.
    void credit(Http2FrameStream stream, int octets) {
        if (octets > 0) {
            write(new DefaultHttp2WindowUpdateFrame(octets).stream(stream));
        }
    }

    /// Says that no more streams are taken.
    void goAway() {
        write(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
    }

    private ChannelFuture write(Http2Frame frame) {
        ChannelFuture written = channel.write(frame);
        flushSoon();
        return written;
    }

    /// Once for all that is written meanwhile, and never in the middle of what one side does.
    private void flushSoon() {
        if (!flushDue) {
            flushDue = true;
            channel.eventLoop().execute(() -> {
                flushDue = false;
                channel.flush();
            });
        }
    }

    /// Ends the connection after all that it was sent.
    void close() {
        channel.flush();
        channel.close();
    }

    // What it says.

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        switch (message) {
            case Http2HeadersFrame head -> receiver.head(known(head.stream()), head);
            case Http2DataFrame data -> receiver.data(known(data.stream()), data);
            case Http2ResetFrame reset -> receiver.reset(known(reset.stream()), reset.errorCode());
            case Http2SettingsFrame _ -> receiver.began();
            case Http2GoAwayFrame away -> {
                away.release();
                receiver.goingAway();
            }
            default -> ReferenceCountUtil.release(message);
        }
    }

    private static Http2FrameStream known(@Nullable Http2FrameStream stream) {
        if (stream == null) {
            throw new IllegalStateException("a frame of no stream");
        }
        return stream;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof Http2FrameStreamEvent changed
                && changed.stream().state() == io.netty.handler.codec.http2.Http2Stream.State.CLOSED) {
            receiver.closed(changed.stream());
        } else if (event instanceof SslCloseCompletionEvent || event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        receiver.writabilityChanged();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        switch (cause) {
            case Http2FrameStreamException fault ->
                receiver.streamFault(fault.stream(), fault.error(), why(fault.error(), fault.getCause()));
            case Http2Exception fault -> receiver.connectionFault(why(fault.error(), fault)); // the codec closes it
            default -> {
                end(cause);
                ctx.close();
            }
        }
    }

    /// What the codec says, without what could be an octet of the peer's choice and no letter.
    private static String why(Http2Error error, @Nullable Throwable cause) {
        String text = cause == null ? "" : String.valueOf(cause.getMessage()).replaceAll("[^ -~]", "?");
        return error.name().toLowerCase(Locale.ROOT).replace('_', ' ') + ": "
                + text.substring(0, Math.min(text.length(), WHY_MAX));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end(null);
        ctx.fireChannelInactive();
    }

    private void end(@Nullable Throwable cause) {
        if (!ended) {
            ended = true;
            receiver.ended(cause);
        }
    }
}
