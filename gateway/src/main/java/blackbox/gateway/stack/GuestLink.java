package blackbox.gateway.stack;

import blackbox.gateway.egress.Findings;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Carries frames between a machine's network socket and a [GuestNetwork]: the only handler of the socket's channel.
/// Each frame is preceded by its length, an unsigned 32-bit number, most significant octet first. While the machine
/// takes no frames, none are read from it either.
public final class GuestLink extends ChannelInboundHandlerAdapter implements FrameSink {
    /// Waiting frames: how many octets stop reading, and how many let it go on.
    public static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(512 << 10, 1 << 20);

    /// The longest frame that QEMU makes (its NET_BUFSIZE).
    private static final int FRAME_BYTES_MAX = 4_096 + 65_536;

    private static final int LENGTH_BYTES = 4;
    private static final long TICK_MS = 100;

    private final StackSettings settings;
    private final FlowHandler handler;
    private final Findings findings;
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    private @Nullable ChannelHandlerContext context;
    private @Nullable GuestNetwork network;
    private @Nullable Throwable failure;
    private @Nullable ScheduledFuture<?> ticks;
    private final byte[] frame = new byte[FRAME_BYTES_MAX];
    private int lengthOctets;
    private int length;
    private int filled;

    public GuestLink(StackSettings settings, FlowHandler handler, Findings findings) {
        this.settings = settings;
        this.handler = handler;
        this.findings = findings;
    }

    /// Completes when the machine has closed its end, or fails with what broke the link; all flows have ended then.
    public CompletableFuture<@Nullable Void> ended() {
        return ended;
    }

    /// The network behind it, once the channel is registered.
    public GuestNetwork network() {
        GuestNetwork known = network;
        if (known == null) {
            throw new IllegalStateException("the link has no channel yet");
        }
        return known;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        var own = new GuestNetwork(ctx.channel(), this, settings, handler, findings, System::nanoTime);
        network = own;
        ticks = ctx.executor().scheduleWithFixedDelay(() -> tick(own), TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    }

    private void tick(GuestNetwork own) {
        try {
            own.tick();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
        ByteBuf octets = (ByteBuf) message;
        try {
            while (octets.isReadable()) {
                take(octets);
            }
        } finally {
            octets.release();
        }
    }

    private void take(ByteBuf octets) throws IOException {
        if (lengthOctets < LENGTH_BYTES) {
            length = length << 8 | octets.readUnsignedByte();
            if (++lengthOctets == LENGTH_BYTES && (length < 0 || length > FRAME_BYTES_MAX)) {
                throw new IOException("the machine sent a frame of " + Integer.toUnsignedString(length) + " octets");
            }
        } else {
            int count = Math.min(octets.readableBytes(), length - filled);
            octets.readBytes(frame, filled, count);
            filled += count;
        }
        if (lengthOctets == LENGTH_BYTES && filled == length) {
            int whole = length;
            lengthOctets = 0;
            length = 0;
            filled = 0;
            network().frame(frame, whole);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        network().endBatch();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(ctx.channel().isWritable());
        if (ctx.channel().isWritable()) {
            network().resume();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
    }

    /// Breaks the link off, on the loop: nothing of the guest's is served any more.
    public void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        ChannelHandlerContext known = context;
        if (known != null) {
            var unused = known.close();
        }
    }

    private void end() {
        ScheduledFuture<?> own = ticks;
        if (own != null) {
            own.cancel(false);
        }
        try {
            network().close();
            findings.finish();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        Throwable why = failure;
        if (why == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(why);
        }
    }

    @Override
    public void send(byte[] octets, int count) {
        ChannelHandlerContext to = known();
        ByteBuf buffer = to.alloc().ioBuffer(LENGTH_BYTES + count);
        buffer.writeInt(count).writeBytes(octets, 0, count);
        var unused = to.write(buffer); // if it fails, the machine has ended, which closes the channel
    }

    @Override
    public boolean isReady() {
        return known().channel().isWritable();
    }

    @Override
    public void flush() {
        known().flush();
    }

    private ChannelHandlerContext known() {
        ChannelHandlerContext known = context;
        if (known == null) {
            throw new IllegalStateException("the link has no channel yet");
        }
        return known;
    }
}
