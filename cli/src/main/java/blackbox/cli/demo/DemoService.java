package blackbox.cli.demo;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/// The service that the demo's agent reports to: HTTP on a free port of loopback, under a path that only the agent is
/// told, since other users of the machine can connect, too.
public final class DemoService implements AutoCloseable {

    private static final int REPORT_BYTES_MAX = 1 << 20;

    private static final int SECRET_BYTES = 16;

    private final HttpServer server;
    private final String secret;
    private final AtomicLong received = new AtomicLong();

    public DemoService() throws IOException {
        var random = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(random);
        secret = HexFormat.of().formatHex(random);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        server.createContext("/" + secret + "/report", exchange -> {
            received.addAndGet(exchange.getRequestBody().readNBytes(REPORT_BYTES_MAX).length);
            byte[] answer = "service: thank you\n".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            try (var body = exchange.getResponseBody()) {
                body.write(answer);
            }
        });
        server.start();
    }

    /// The service's address as the guest sees it: 10.0.2.2 is the host's loopback in the user network.
    public String urlInGuest() {
        return "http://10.0.2.2:" + server.getAddress().getPort() + "/" + secret;
    }

    /// Octets of reports received.
    public long receivedBytes() {
        return received.get();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
