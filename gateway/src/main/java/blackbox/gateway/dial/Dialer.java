package blackbox.gateway.dial;

import blackbox.gateway.dial.DialException.Cause;
import blackbox.gateway.egress.Verdict;
import blackbox.schemas.net.IpAddress;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Opens connections to where the guest may go. A name is resolved off the loop; all of its addresses must be allowed,
/// and only those that were looked at are dialled. Owned by the loop, on which stages complete.
public final class Dialer implements AutoCloseable {
    private static final int ADDRESSES_MAX = 8;
    private static final long KEEP_THREADS_S = 10;

    private final EventLoop loop;
    private final DialSettings settings;
    private final Resolver resolver;
    private final Sockets sockets;
    private final ThreadPoolExecutor threads;
    private int dialling;

    /// Which addresses may be dialled. Asked off the loop.
    @FunctionalInterface
    public interface Reach {

        /// Whether an address may be dialled, and why not; as [blackbox.schemas.net.IpAddress] writes it.
        Verdict of(String address);
    }

    public Dialer(EventLoop loop, DialSettings settings, Resolver resolver, Sockets sockets) {
        this.loop = loop;
        this.settings = settings;
        this.resolver = resolver;
        this.sockets = sockets;
        int count = settings.resolvers();
        this.threads = new ThreadPoolExecutor(
                count,
                count,
                KEEP_THREADS_S,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(settings.dialsMax()),
                Thread.ofPlatform().daemon().name("gateway-resolver-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /// Connects to a host. The channel reads nothing until it is told to (auto-read is off), and allows half-closure.
    ///
    /// @param host a name or an address
    /// @return fails with a [DialException]; a caller that no longer wants it completes it by itself
    public CompletableFuture<Dialled> dial(String host, int port, Reach reach) {
        if (dialling >= settings.dialsMax()) {
            return failed(Cause.OVERLOADED, "more than " + settings.dialsMax() + " connections are being opened");
        }
        dialling++;
        var attempts = new Attempts(loop, settings, sockets, host + ":" + port);
        CompletableFuture<Dialled> result = attempts.result();
        var unused = result.whenComplete((dialled, failure) -> dialling--);
        places(host, reach, result::isDone).whenComplete((found, failure) -> {
            if (failure != null) {
                attempts.fail(failure);
            } else {
                attempts.start(found, port);
            }
        });
        return result;
    }

    /// The addresses of a host, which may all be dialled; at most as many as are tried.
    public CompletionStage<List<Place>> places(String host, Reach reach) {
        return places(host, reach, () -> false);
    }

    private CompletionStage<List<Place>> places(String host, Reach reach, BooleanSupplier unwanted) {
        var result = new CompletableFuture<List<Place>>();
        try {
            threads.execute(() -> {
                try {
                    List<Place> found = unwanted.getAsBoolean() ? List.of() : find(host, reach);
                    loop.execute(() -> result.complete(found));
                } catch (RejectedExecutionException e) {
                    return; // the gateway has ended meanwhile
                } catch (DialException | RuntimeException | Error e) {
                    loop.execute(() -> result.completeExceptionally(e));
                }
            });
        } catch (RejectedExecutionException _) {
            return failed(Cause.OVERLOADED, "too many names are being resolved");
        }
        return result;
    }

    private List<Place> find(String host, Reach reach) throws DialException {
        String literal = IpAddress.canonical(host);
        List<InetAddress> found;
        try {
            found = literal == null ? resolver.resolve(host) : List.of(InetAddress.ofLiteral(literal));
        } catch (UnknownHostException _) {
            throw new DialException(Cause.NO_ADDRESS, "the host finds no address of " + host);
        }
        if (found.isEmpty()) {
            throw new DialException(Cause.NO_ADDRESS, host + " has no address");
        }
        var places = new ArrayList<Place>();
        for (InetAddress address : found) {
            String text = IpAddress.text(address.getAddress());
            Verdict verdict = reach.of(text);
            if (!verdict.allowed()) {
                throw DialException.refused(host, text, verdict);
            }
            places.add(new Place(address, verdict));
        }
        return List.copyOf(places.subList(0, Math.min(places.size(), ADDRESSES_MAX)));
    }

    private static <T> CompletableFuture<T> failed(Cause cause, String message) {
        return CompletableFuture.failedFuture(new DialException(cause, message));
    }

    /// What a stage of [#dial] failed with.
    public static DialException reason(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof DialException known ? known : unforeseen(cause);
    }

    private static DialException unforeseen(@Nullable Throwable cause) {
        var wrapped = new DialException(Cause.UNREACHABLE, "a fault while dialling: " + cause);
        wrapped.initCause(cause);
        return wrapped;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
