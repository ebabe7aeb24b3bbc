package blackbox.cli;

import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAnswer;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/// A time authority behind a real HTTP server on loopback.
final class TimeStampServer implements AutoCloseable {
    private final TestTimeAuthority authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.RSA);
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

    /// @param now the time in its stamps
    TimeStampServer(Instant now) throws IOException {
        server.createContext("/tsr", exchange -> {
            byte[] answer = authority.answer(exchange.getRequestBody().readAllBytes(), now);
            exchange.getResponseHeaders().set("Content-Type", TimeAnswer.MEDIA_TYPE);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/tsr";
    }

    /// Has it trusted in a data folder.
    void trustIn(Path data) throws IOException {
        Path root = Files.createDirectories(data.resolve("keys/time")).resolve("root.pem");
        Files.writeString(root, authority.rootPem());
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
