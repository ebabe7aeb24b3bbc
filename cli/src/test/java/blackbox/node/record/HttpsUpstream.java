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
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// An HTTPS server on this host's loopback, for names whose certificate nobody trusts unless told to.
///
/// @param certificate its own, in PEM
record HttpsUpstream(HttpsServer server, Path certificate) implements AutoCloseable {
    private static final String PASSWORD = "of a test";

    static HttpsUpstream start(Path folder, HttpHandler handler, String... names) throws Exception {
        Path store = folder.resolve("server.p12");
        String alternatives = Arrays.stream(names).map(name -> "dns:" + name).collect(Collectors.joining(","));
        keytool(store, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + names[0], "-ext", "san=" + alternatives);
        Path certificate = folder.resolve("server.pem");
        keytool(store, "-exportcert", "-rfc", "-file", certificate.toString());
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
        server.setHttpsConfigurator(new HttpsConfigurator(context(store)));
        server.createContext("/", handler);
        server.start();
        return new HttpsUpstream(server, certificate);
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
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
