package blackbox.gateway;

import blackbox.gateway.dial.Dialer;
import blackbox.gateway.dial.Resolver;
import blackbox.gateway.dial.Sockets;
import blackbox.gateway.dns.NameTable;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.FlowWitness;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.stack.GuestLink;
import blackbox.gateway.stack.GuestNetwork;
import blackbox.gateway.tls.RunAuthority;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// The only network of one machine. One thread, its loop, does all of it; host names are resolved on others.
///
/// It ends with the machine's socket. Should it fail before, the socket is closed, so that the guest is cut off rather
/// than connected past it, and [#awaitEnd] says why.
public final class Gateway implements AutoCloseable {
    /// A recorder on a slow disk may take that long for what its queue holds.
    private static final long CLOSE_S = 60;

    private final MultiThreadIoEventLoopGroup loops;
    private final Dialer dialer;
    private final GuestLink link;
    private final NioDomainSocketChannel channel;
    private final CompletableFuture<@Nullable Void> ended;

    private Gateway(
            MultiThreadIoEventLoopGroup loops,
            Dialer dialer,
            GuestLink link,
            NioDomainSocketChannel channel,
            CompletableFuture<@Nullable Void> ended) {
        this.loops = loops;
        this.dialer = dialer;
        this.link = link;
        this.channel = channel;
        this.ended = ended;
    }

    /// What a gateway relies on outside, which tests replace.
    ///
    /// @param connections makes what serves the allowed
    /// @param witness of the connections that the guest begins
    public record Outside(
            Resolver resolver, Sockets sockets, ConnectionHandler.Factory connections, FlowWitness witness) {

        /// Without a witness.
        public Outside(Resolver resolver, Sockets sockets, ConnectionHandler.Factory connections) {
            this(resolver, sockets, connections, FlowWitness.NONE);
        }

        /// With the host's own sockets, and without a witness.
        public Outside(Resolver resolver, ConnectionHandler.Factory connections) {
            this(resolver, Sockets.OF_HOST, connections);
        }

        /// With connections held until `other` knows that the guest began them: until then nothing is dialled, and the
        /// guest has no answer.
        public Outside holding(FlowWitness other) {
            return new Outside(resolver, sockets, connections, other);
        }

        /// The host's own, with octets relayed as they are, whatever a verdict says of looking into them.
        public static Outside ofThisHost() {
            return new Outside(Resolver.OF_HOST, OctetRelay.FACTORY);
        }

        /// The host's own, with connections looked into as far as verdicts say.
        ///
        /// @param authority whom the guest trusts
        /// @param trust verifies the other side, such as [blackbox.gateway.tls.HostTrust#of]
        /// @param secrets which may go with requests; to be closed when the gateway has ended
        public static Outside inspecting(RunAuthority authority, X509TrustManager trust, Secrets secrets) {
            return new Outside(
                    Resolver.OF_HOST, Inspector.factory(authority, trust, secrets, InspectionSettings.DEFAULT));
        }
    }

    /// Starts it.
    ///
    /// @param network the machine's socket, of which it takes ownership
    /// @param listener called on the loop
    public static Gateway start(
            SocketChannel network, GatewaySettings settings, EgressAuthority authority, GatewayListener listener) {
        return start(network, settings, authority, listener, Outside.ofThisHost());
    }

    /// The same, with another way out.
    public static Gateway start(
            SocketChannel network,
            GatewaySettings settings,
            EgressAuthority authority,
            GatewayListener listener,
            Outside outside) {
        var loops = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("gateway", true), NioIoHandler.newFactory());
        EventLoop loop = loops.next();
        var dialer = new Dialer(loop, settings.dial(), outside.resolver(), outside.sockets());
        var told = new GuardedListener(listener);
        var findings = new Findings(told);
        var judge = new Judge(authority, outside.witness(), loop, settings.verdictMax());
        var egress = new Egress(
                judge,
                told,
                findings,
                new NameTable(settings.namesMax(), settings.namesPerRuleMax()),
                dialer,
                outside.connections().of(judge, told, findings),
                new DatagramRelay(loop, dialer, outside.sockets()));
        var link = new GuestLink(settings.stack(), egress, findings);
        var channel = new NioDomainSocketChannel(network);
        channel.config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, GuestLink.WAITING);
        channel.pipeline().addLast(link);
        told.onFailure(link::fail);
        var gateway = new Gateway(loops, dialer, link, channel, link.ended());
        loop.register(channel).addListener(registered -> {
            if (!registered.isSuccess()) {
                link.ended().completeExceptionally(registered.cause());
            }
        });
        return gateway;
    }

    /// Completes on the loop when the machine has closed its socket, or the gateway was closed; fails if it broke.
    public CompletableFuture<@Nullable Void> ended() {
        return ended.copy();
    }

    /// Waits for the machine's end of the socket to close.
    ///
    /// @throws IOException if the gateway broke before
    public void awaitEnd() throws IOException, InterruptedException {
        try {
            ended.get();
        } catch (ExecutionException e) {
            Throwable why = e.getCause() == null ? e : e.getCause();
            throw new IOException("the guest's network could not be served to the end: " + why.getMessage(), why);
        }
    }

    /// Does something with the guest's network, on the loop.
    <T> CompletableFuture<T> onLoop(Function<GuestNetwork, T> action) {
        return CompletableFuture.supplyAsync(() -> action.apply(link.network()), channel.eventLoop());
    }

    /// Ends all flows, tells of them, closes the socket, and waits for the loop to end.
    @Override
    public void close() {
        var unused = channel.close();
        try {
            ended.handle((nothing, failure) -> true).get(CLOSE_S, TimeUnit.SECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the gateway's loop does not end", e);
        } finally {
            dialer.close();
            loops.shutdownGracefully(0, CLOSE_S, TimeUnit.SECONDS).awaitUninterruptibly(CLOSE_S, TimeUnit.SECONDS);
        }
    }
}
