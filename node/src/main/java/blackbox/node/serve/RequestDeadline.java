package blackbox.node.serve;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Closes a connection on which no complete request arrives in time. Netty's own idle time-outs would also cut off
/// an answer that takes long, or that a client reads slowly; here, nothing is timed while an answer is due.
final class RequestDeadline extends ChannelDuplexHandler {

    private final long patienceNs;
    private int due;
    private @Nullable Future<?> timer;

    RequestDeadline(Duration patience) {
        this.patienceNs = patience.toNanos();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        await(context);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        cancel();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof LastHttpContent) {
            due++;
            cancel();
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        ChannelPromise written = promise;
        if (message instanceof LastHttpContent) {
            written = promise.unvoid(); // the shared promise takes no listener
            written.addListener(_ -> answered(context));
        }
        var _ = context.write(message, written);
    }

    private void answered(ChannelHandlerContext context) {
        due = Math.max(0, due - 1);
        if (due == 0 && context.channel().isActive()) {
            await(context);
        }
    }

    private void await(ChannelHandlerContext context) {
        cancel();
        timer = context.executor()
                .schedule(
                        () -> {
                            var _ = context.close();
                        },
                        patienceNs,
                        TimeUnit.NANOSECONDS);
    }

    private void cancel() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
