package blackbox.gateway;

import blackbox.gateway.dial.Sockets;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.FlowWitness;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestNetwork;
import blackbox.schemas.Seeded;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A guest, a gateway, and a server on the host's loopback that the guest reaches as 192.0.2.1 and its port.
final class Served implements AutoCloseable {
    static final String SERVER = "192.0.2.1";

    static {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    }

    final RandomGenerator random;
    final TestGuest guest;
    final TestListener listener = new TestListener();
    final ServerSocket server;
    final LinkedBlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
    final Map<String, List<InetAddress>> hosts = new ConcurrentHashMap<>();
    final Gateway gateway;
    /// Of connections to the server; 0 for what the system does.
    volatile int sendBufferBytes;

    /// Allows the server, and any name that begins with `ok`.
    static class Rules implements EgressAuthority {
        private final int port;

        Rules(int port) {
            this.port = port;
        }

        @Override
        public CompletionStage<Verdict> name(String host, String type) {
            return CompletableFuture.completedFuture(
                    host.startsWith("ok")
                            ? Verdict.allow("names", "it is on the list")
                            : Verdict.deny(null, "no rule allows " + host));
        }

        @Override
        public CompletionStage<Verdict> connect(Destination destination) {
            String host = destination.host();
            if (destination.address().equals(SERVER)) {
                return done(Verdict.allow("server", "by address").via(new HostPort("127.0.0.1", port)));
            }
            return done(
                    host != null && host.startsWith("ok")
                            ? Verdict.allow("names", "by name")
                            : Verdict.deny(null, "no rule allows " + destination.text()));
        }

        /// Only where a name says so, a name may be of this host.
        @Override
        public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
            String host = destination.host();
            boolean ours = host == null || host.contains("local");
            return address.startsWith("127.") && !ours
                    ? Verdict.deny("own", address + " is this host's")
                    : Verdict.allow("names", "by address");
        }

        @Override
        public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
            return connect(destination);
        }

        @Override
        public CompletionStage<RequestVerdict> request(
                Destination destination, @Nullable String serverName, RequestHead head) {
            return connect(destination).thenApply(verdict -> new RequestVerdict(verdict, head.target(), 403));
        }

        private static CompletionStage<Verdict> done(Verdict verdict) {
            return CompletableFuture.completedFuture(verdict);
        }
    }

    Served(Path folder) throws IOException {
        this(folder, GatewaySettings.DEFAULT, Rules::new, OctetRelay.FACTORY);
    }

    Served(
            Path folder,
            GatewaySettings settings,
            Function<Integer, EgressAuthority> authority,
            ConnectionHandler.Factory connections)
            throws IOException {
        this(folder, settings, authority, connections, FlowWitness.NONE);
    }

    Served(
            Path folder,
            GatewaySettings settings,
            Function<Integer, EgressAuthority> authority,
            ConnectionHandler.Factory connections,
            FlowWitness witness)
            throws IOException {
        random = Seeded.random("gateway");
        server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_024);
        Thread.ofPlatform().daemon().name("test-server").start(this::accept);
        TestGuest.Link link = TestGuest.link(folder, random);
        guest = link.guest();
        gateway = Gateway.start(
                link.gateway(),
                settings,
                authority.apply(server.getLocalPort()),
                listener,
                new Gateway.Outside(this::resolve, new Buffers(), connections).holding(witness));
    }

    private final class Buffers implements Sockets {
        @Override
        public SocketChannel stream() {
            SocketChannel channel = Sockets.OF_HOST.stream();
            if (sendBufferBytes > 0) {
                channel.config().setSendBufferSize(sendBufferBytes);
            }
            return channel;
        }

        @Override
        public DatagramChannel datagram() {
            return Sockets.OF_HOST.datagram();
        }
    }

    private List<InetAddress> resolve(String host) throws UnknownHostException {
        if (!host.endsWith(".")) {
            throw new UnknownHostException(host + " would be looked up in the host's search domains");
        }
        List<InetAddress> known = hosts.get(host.substring(0, host.length() - 1));
        if (known == null) {
            throw new UnknownHostException(host);
        }
        return known;
    }

    private void accept() {
        try {
            for (; ; ) {
                accepted.add(server.accept());
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    int port() {
        return server.getLocalPort();
    }

    TestConnection connect(int from) throws IOException {
        return guest.connect(SERVER, port(), from);
    }

    /// The server's end of the next connection.
    Socket accepted() throws InterruptedException {
        Socket socket = accepted.poll(TestGuest.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (socket == null) {
            throw new AssertionError("nobody connected");
        }
        return socket;
    }

    /// Asks the gateway something about its network.
    <T> T onLoop(Function<GuestNetwork, T> question) throws Exception {
        return gateway.onLoop(question).get(TestGuest.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() throws IOException {
        gateway.close();
        guest.close();
        server.close();
        for (Socket socket : accepted) {
            socket.close();
        }
    }
}
