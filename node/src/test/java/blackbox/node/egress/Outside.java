package blackbox.node.egress;

import blackbox.gateway.TestCertificates;
import blackbox.gateway.dial.Resolver;
import blackbox.gateway.dial.Sockets;
import blackbox.gateway.tls.ClientHello;
import blackbox.schemas.net.IpAddress;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// All of the world beyond a gateway: each name that it looks up, each address that it dials, each octet that it sends
/// comes here and nowhere else, and is kept.
final class Outside implements Resolver, Sockets, AutoCloseable {
    /// What stands for the key of a WebSocket that is not the guest's.
    static final String OTHER_KEY = "Sec-WebSocket-Key: (not the guest's)";

    private static final Pattern ANOTHER_KEY =
            Pattern.compile("Sec-WebSocket-Key: (?!dGhlIHNhbXBsZSBub25jZQ==)[A-Za-z0-9+/]{22}==");
    private static final long WAIT_S = 20;

    /// Keys are slow to make: those of a server are kept for all cases.
    private static final TestCertificates AUTHORITY = new TestCertificates();

    private static final Map<String, SSLContext> SERVERS = new ConcurrentHashMap<>();

    private final Map<String, Deque<List<String>>> names;
    private final OutsideServer server;
    private final ServerSocket listener;
    private final Map<Integer, String> dialled = new ConcurrentHashMap<>();
    private final List<String> lookups = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<String> datagrams = new ArrayList<>();
    private final AtomicInteger open = new AtomicInteger();

    /// One connection that came.
    static final class Arrival {
        private final String at;
        private final StringBuilder got = new StringBuilder();
        private volatile @Nullable String serverName;

        private Arrival(String at) {
            this.at = at;
        }

        synchronized void add(String octets) {
            got.append(octets);
        }

        synchronized String got() {
            return got.toString();
        }
    }

    /// @param names for each name what it resolves to, one time after the other; the last remains
    Outside(Map<String, List<List<String>>> names, OutsideServer server) throws IOException {
        this.names = new HashMap<>();
        names.forEach((name, answers) -> this.names.put(name, new ArrayDeque<>(answers)));
        this.server = server;
        this.listener = new ServerSocket(0, 1_024, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("outside").start(this::accept);
    }

    static TestCertificates authority() {
        return AUTHORITY;
    }

    @Override
    public synchronized List<InetAddress> resolve(String host) throws UnknownHostException {
        lookups.add(host);
        Deque<List<String>> known = host.endsWith(".") ? names.get(host.substring(0, host.length() - 1)) : null;
        if (known == null) {
            throw new UnknownHostException(host);
        }
        List<String> now = known.size() > 1 ? known.removeFirst() : known.getFirst();
        return now.stream().map(InetAddress::ofLiteral).toList();
    }

    @Override
    public SocketChannel stream() {
        return new NioSocketChannel() {
            @Override
            protected boolean doConnect(SocketAddress remote, SocketAddress local) throws Exception {
                javaChannel().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                dialled.put(javaChannel().socket().getLocalPort(), text((InetSocketAddress) remote));
                return super.doConnect(listener.getLocalSocketAddress(), null);
            }
        };
    }

    /// No policy allows UDP, so that none is ever wanted.
    @Override
    public synchronized DatagramChannel datagram() {
        datagrams.add("a datagram");
        throw new IllegalStateException("nothing leaves a test");
    }

    private static String text(InetSocketAddress address) {
        String ip = IpAddress.text(address.getAddress().getAddress());
        return (ip.contains(":") ? "[" + ip + "]" : ip) + ":" + address.getPort();
    }

    private void accept() {
        try {
            for (; ; ) {
                Socket socket = listener.accept();
                open.incrementAndGet();
                String at = dialled.getOrDefault(socket.getPort(), "nowhere that was dialled");
                var arrival = new Arrival(at);
                synchronized (this) {
                    arrivals.add(arrival);
                }
                Thread.ofVirtual().start(() -> serve(socket, arrival));
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    private void serve(Socket socket, Arrival arrival) {
        try (socket) {
            OutputStream raw = socket.getOutputStream();
            raw.write(server.greeting());
            InputStream in = socket.getInputStream();
            byte[] first = in.readNBytes(1);
            if (first.length == 0) {
                return;
            }
            if (first[0] == 22) {
                byte[] hello = hello(in);
                String name = ClientHello.read(hello).serverName();
                arrival.serverName = String.valueOf(name);
                try (SSLSocket tls = tls(socket, hello, name == null ? arrival.at : name)) {
                    server.serve(tls, socket, arrival);
                }
            } else {
                arrival.add(TableCase.ascii(first));
                server.serve(socket, socket, arrival);
            }
        } catch (IOException _) {
            return; // it was broken off; what came is kept
        } finally {
            open.decrementAndGet();
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /// All of a hello that the gateway itself sent, whose first octet has been read.
    private static byte[] hello(InputStream in) throws IOException {
        byte[] header = Arrays.copyOf(in.readNBytes(4), 4);
        byte[] body = in.readNBytes((header[2] & 0xff) << 8 | header[3] & 0xff);
        byte[] all = new byte[5 + body.length];
        all[0] = 22;
        System.arraycopy(header, 0, all, 1, 4);
        System.arraycopy(body, 0, all, 5, body.length);
        return all;
    }

    private static SSLSocket tls(Socket socket, byte[] consumed, String name) throws IOException {
        int colon = name.lastIndexOf(':');
        SSLContext context = SERVERS.computeIfAbsent(colon < 0 ? name : name.substring(0, colon), AUTHORITY::server);
        return (SSLSocket) context.getSocketFactory().createSocket(socket, new ByteArrayInputStream(consumed), true);
    }

    /// Waits until all that came has been read to its end.
    synchronized void awaitEnds() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
        while (open.get() > 0 || arrivals.size() < dialled.size()) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError("a connection to the outside does not end: " + came());
            }
            wait(Math.min(left, 50));
        }
    }

    /// Everything that got out, in order: names that were looked up, connections with what was said on them.
    synchronized List<String> came() {
        var came = new ArrayList<String>();
        lookups.forEach(name -> came.add("lookup " + name));
        for (Arrival arrival : arrivals) {
            String name = arrival.serverName;
            came.add((name == null ? "tcp " : "tls " + name + " ") + arrival.at + " \""
                    + ANOTHER_KEY.matcher(OutsideServer.shown(arrival.got())).replaceAll(OTHER_KEY) + "\"");
        }
        came.addAll(datagrams);
        return came;
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    /// A text as octets.
    static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
