package blackbox.gateway.dial;

import blackbox.gateway.dial.DialException.Cause;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Tries the addresses of a host, each a moment after the one before it (RFC 8305); the first connection that comes
/// about is taken. Whoever completes the result calls off the rest. Owned by the loop.
@SuppressWarnings("FutureReturnValueIgnored") // of channels that are closed
final class Attempts {
    private static final WriteBufferWaterMark WRITES = new WriteBufferWaterMark(32 << 10, 64 << 10);

    private final EventLoop loop;
    private final DialSettings settings;
    private final String destination;
    private final Sockets sockets;
    private final CompletableFuture<Dialled> result = new CompletableFuture<>();
    private final ArrayDeque<Place> left = new ArrayDeque<>();
    private int port;
    private final List<ChannelFuture> running = new ArrayList<>();
    private @Nullable Throwable firstFailure;

    Attempts(EventLoop loop, DialSettings settings, Sockets sockets, String destination) {
        this.loop = loop;
        this.settings = settings;
        this.sockets = sockets;
        this.destination = destination;
        var limit = loop.schedule(this::giveUp, settings.connectMax().toMillis(), TimeUnit.MILLISECONDS);
        var unused = result.whenComplete((dialled, failure) -> {
            limit.cancel(false);
            left.clear();
            List.copyOf(running).stream()
                    .map(ChannelFuture::channel)
                    .filter(each -> dialled == null || !each.equals(dialled.channel()))
                    .forEach(Channel::close);
        });
    }

    CompletableFuture<Dialled> result() {
        return result;
    }

    private void giveUp() {
        fail(new DialException(
                Cause.TIMED_OUT,
                destination + " did not answer within " + settings.connectMax().toSeconds() + " s"));
    }

    void fail(Throwable failure) {
        result.completeExceptionally(failure);
    }

    void start(List<Place> places, int at) {
        port = at;
        left.addAll(places);
        next();
    }

    private void next() {
        Place place = left.poll();
        if (place == null || result.isDone()) {
            return;
        }
        ChannelFuture attempt = new Bootstrap()
                .group(loop)
                .channelFactory(sockets::stream)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WRITES)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(new InetSocketAddress(place.address(), port));
        running.add(attempt);
        attempt.addListener(_ -> {
            if (loop.inEventLoop()) {
                ended(attempt, place);
            } else {
                loop.execute(() -> ended(attempt, place)); // there was no descriptor for a socket, so it has no loop
            }
        });
        var unused = loop.schedule(this::next, settings.nextAfter().toMillis(), TimeUnit.MILLISECONDS);
    }

    private void ended(ChannelFuture attempt, Place place) {
        running.remove(attempt);
        if (attempt.isSuccess()) {
            if (!result.complete(new Dialled(attempt.channel(), place, port))) {
                attempt.channel().close();
            }
            return;
        }
        if (firstFailure == null) {
            firstFailure = attempt.cause();
        }
        if (!left.isEmpty()) {
            next();
        } else if (running.isEmpty()) {
            result.completeExceptionally(failure(firstFailure));
        }
    }

    private DialException failure(@Nullable Throwable cause) {
        boolean refused = cause instanceof ConnectException
                && cause.getMessage() != null
                && cause.getMessage().contains("refused");
        return new DialException(
                refused ? Cause.REFUSED : Cause.UNREACHABLE,
                destination + (refused ? " refuses connections" : " was not reached: " + cause));
    }
}
