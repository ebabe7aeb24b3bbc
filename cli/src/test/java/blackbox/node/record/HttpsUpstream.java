package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// A server of HTTPS on the host's loopback, with a certificate of its own for some names.
final class HttpsUpstream implements AutoCloseable {
    private static final String PASSWORD = "of a test";

    private final HttpsServer web;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Path certificate;

    private HttpsUpstream(HttpsServer web, Path certificate) {
        this.web = web;
        this.certificate = certificate;
    }

    static HttpsUpstream start(Path folder, String name, HttpHandler handler, String... others) throws Exception {
        Keys keys = keys(folder, name, others);
        HttpsServer web = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        web.setHttpsConfigurator(new HttpsConfigurator(keys.context));
        web.createContext("/", handler);
        var upstream = new HttpsUpstream(web, keys.certificate);
        web.setExecutor(upstream.threads);
        web.start();
        return upstream;
    }

    /// @param certificate in PEM
    record Keys(SSLContext context, Path certificate) {}

    /// Of a server of these names.
    static Keys keys(Path folder, String name, String... others) throws Exception {
        Path store = Files.createTempDirectory(folder, name).resolve("keys.p12");
        var names = new StringBuilder("san=dns:" + name);
        List.of(others).forEach(other -> names.append(",dns:").append(other));
        keytool(store, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name, "-ext", names.toString());
        Path certificate = store.resolveSibling("certificate.pem");
        keytool(store, "-exportcert", "-rfc", "-file", certificate.toString());
        return new Keys(context(store), certificate);
    }

    private static void keytool(Path store, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD, "-alias", "server"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
    }

    private static SSLContext context(Path store) throws Exception {
        var keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        var context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    int port() {
        return web.getAddress().getPort();
    }

    /// In PEM.
    Path certificate() {
        return certificate;
    }

    @Override
    public void close() {
        web.stop(0);
        threads.shutdownNow();
    }
}
