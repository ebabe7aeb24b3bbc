package blackbox.gateway;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.secret.Secrets;
import blackbox.gateway.tls.RunAuthority;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// A guest, a gateway that looks into its connections, and a server that is `ok.local` to the guest.
final class Inspected implements AutoCloseable {
    static final String NAME = "ok.local";

    final RunAuthority authority = RunAuthority.create(Instant.now());
    final TestCertificates certificates = new TestCertificates();
    final List<RequestHead> heads = Collections.synchronizedList(new ArrayList<>());
    final List<String> serverNames = Collections.synchronizedList(new ArrayList<>());
    volatile Supplier<Passage> streams = () -> Passage.FREE;
    final Served served;
    private final String address;
    private int port = 41_000;

    Inspected(Path folder, Inspection inspection) throws Exception {
        this(
                folder,
                inspection,
                head -> head.target().startsWith("/denied")
                        ? new RequestVerdict(Verdict.deny("deny[0]", "a \"path\" of no good"), head.target(), 403)
                        : head.target().startsWith("/elsewhere")
                                ? new RequestVerdict(
                                        Verdict.deny("builtin:misdirected", "another peer"), head.target(), 421)
                                : new RequestVerdict(Verdict.allow("http", "on the list"), head.target(), 403));
    }

    Inspected(Path folder, Inspection inspection, Function<RequestHead, RequestVerdict> judge) throws Exception {
        this(folder, inspection, judge, new InspectionSettings(Duration.ofSeconds(10), Duration.ofSeconds(30)));
    }

    Inspected(
            Path folder,
            Inspection inspection,
            Function<RequestHead, RequestVerdict> judge,
            InspectionSettings settings)
            throws Exception {
        this(folder, inspection, judge, settings, Secrets.none());
    }

    Inspected(
            Path folder,
            Inspection inspection,
            Function<RequestHead, RequestVerdict> judge,
            InspectionSettings settings,
            Secrets secrets)
            throws Exception {
        served = new Served(
                folder,
                GatewaySettings.DEFAULT,
                port -> new Authority(new Served.Rules(port), inspection, judge),
                Inspector.factory(authority, certificates.trust(), secrets, settings));
        served.hosts.put(NAME, List.of(InetAddress.getLoopbackAddress()));
        address = DnsTest.address(served, NAME);
    }

    private final class Authority implements EgressAuthority {
        private final Served.Rules rules;
        private final Inspection inspection;
        private final Function<RequestHead, RequestVerdict> judge;

        Authority(Served.Rules rules, Inspection inspection, Function<RequestHead, RequestVerdict> judge) {
            this.rules = rules;
            this.inspection = inspection;
            this.judge = judge;
        }

        @Override
        public CompletionStage<Verdict> name(String host, String type) {
            return rules.name(host, type);
        }

        @Override
        public CompletionStage<Verdict> connect(Destination destination) {
            return rules.connect(destination).thenApply(verdict -> verdict.inspecting(inspection));
        }

        @Override
        public Verdict address(Destination destination, String to, @Nullable HostPort upstream) {
            return rules.address(destination, to, upstream);
        }

        @Override
        public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
            serverNames.add(String.valueOf(serverName));
            return CompletableFuture.completedFuture(
                    serverName == null || serverName.equals(NAME)
                            ? Verdict.allow("tls", "the peer")
                            : Verdict.deny("builtin:misdirected", "not the peer"));
        }

        @Override
        public Passage stream(@Nullable String rule) {
            return streams.get();
        }

        @Override
        public CompletionStage<RequestVerdict> request(
                Destination destination, @Nullable String serverName, RequestHead head) {
            heads.add(head);
            // Later and elsewhere, as a policy with a budget would.
            return CompletableFuture.supplyAsync(() -> judge.apply(head), Thread::startVirtualThread);
        }
    }

    TestConnection connection() throws IOException, InterruptedException {
        return served.guest.connect(address, served.port(), port++).awaitOpen();
    }

    /// A connection that is not accepted.
    void notAccepted() throws IOException, InterruptedException {
        served.guest.connect(address, served.port(), port++).awaitReset();
    }

    Socket guest() throws Exception {
        return GuestSocket.of(connection());
    }

    Socket server() throws InterruptedException, IOException {
        Socket socket = served.accepted();
        socket.setSoTimeout((int) TestGuest.LIMIT.toMillis());
        return socket;
    }

    /// The server's end of the next connection, with TLS; its handshake is done by whoever reads.
    SSLSocket server(SSLContext context) throws Exception {
        var socket = (SSLSocket) context.getSocketFactory().createSocket(server(), null, -1, true);
        socket.setUseClientMode(false);
        return socket;
    }

    /// A guest that speaks TLS and trusts the gateway; its handshake is done by whoever writes.
    SSLSocket tls(@Nullable String serverName, String... protocols) throws Exception {
        return tls(TestCertificates.client(authority.certificate()), serverName, protocols);
    }

    SSLSocket tls(SSLContext context, @Nullable String serverName, String... protocols) throws Exception {
        var socket = (SSLSocket) context.getSocketFactory().createSocket(guest(), NAME, served.port(), true);
        if (protocols.length > 0) {
            socket.setEnabledProtocols(protocols);
        }
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(serverName == null ? List.of() : List.of(new SNIHostName(serverName)));
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return socket;
    }

    static void say(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    /// Reads until an empty line, which it includes.
    static String head(Socket socket) throws IOException {
        var out = new ByteArrayOutputStream();
        InputStream in = socket.getInputStream();
        while (!out.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int octet = in.read();
            if (octet < 0) {
                throw new AssertionError("it ended after: " + out.toString(StandardCharsets.ISO_8859_1));
            }
            out.write(octet);
        }
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    static String octets(Socket socket, int count) throws IOException {
        return new String(socket.getInputStream().readNBytes(count), StandardCharsets.ISO_8859_1);
    }

    static String all(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    /// The exchanges, once there are so many; fails if there are more.
    List<HttpExchange> exchanges(int count) throws InterruptedException {
        served.listener.await(
                "exchanges are missing", listener -> listener.exchanges().size() >= count);
        List<HttpExchange> all = served.listener.exchanges();
        if (all.size() != count) {
            throw new AssertionError("too many: " + all);
        }
        return all;
    }

    @Override
    public void close() throws IOException {
        served.close();
    }
}
