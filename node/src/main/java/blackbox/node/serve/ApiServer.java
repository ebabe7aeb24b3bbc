package blackbox.node.serve;

import blackbox.recorder.keys.CertifiedKey;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.web.router.Router;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The HTTP server. Listens from [#start] until it is closed.
public final class ApiServer implements AutoCloseable {

    /// Asks for any free port.
    public static final int ANY_PORT = 0;

    private final ApplicationContext application;
    private final EmbeddedServer server;

    private ApiServer(ApplicationContext application, EmbeddedServer server) {
        this.application = application;
        this.server = server;
    }

    /// Starts listening.
    ///
    /// @param tls the key and certificates for TLS, whose host names are answered to as well; null for plain HTTP
    /// @throws IOException when it cannot listen on the address, or `tls` cannot be used
    public static ApiServer start(ApiContext context, ApiAddress address, @Nullable CertifiedKey tls)
            throws IOException {
        int port = address.port() == ANY_PORT ? -1 : address.port();
        var properties = new HashMap<String, Object>();
        properties.put("micronaut.server.host", address.host());
        properties.put("micronaut.server.port", port);
        properties.put("micronaut.server.http-version", "1.1");
        properties.put("micronaut.server.max-request-size", "64KB");
        properties.put("micronaut.server.server-header", "blackbox");
        properties.put("micronaut.server.log-handled-exceptions", false);
        if (tls != null) {
            properties.putAll(ApiTls.properties(port, address.patience()));
        }
        ApplicationContext application = ApplicationContext.builder()
                .banner(false)
                .deduceEnvironment(false)
                .environmentPropertySource(false)
                .properties(properties)
                .singletons(context, tls == null ? address : address.alsoCalled(tls.hostNames()))
                .build();
        try {
            application.start();
            if (tls != null) {
                ApiTls.offer(tls, application);
            }
            EmbeddedServer server = application.getBean(EmbeddedServer.class);
            server.start();
            return new ApiServer(application, server);
        } catch (IOException | RuntimeException e) {
            application.close();
            throw new IOException(
                    "cannot listen on " + address.host() + ":" + address.port()
                            + "; if the port is taken, choose another with --listen",
                    e);
        }
    }

    /// Where it listens.
    public URI uri() {
        try {
            return new URI(server.getScheme(), null, server.getHost(), server.getPort(), null, null, null);
        } catch (URISyntaxException e) {
            throw new IllegalStateException("it listens on " + server.getHost() + ", which cannot be part of a URI", e);
        }
    }

    /// The paths that are served.
    Set<String> routes() {
        return application
                .getBean(Router.class)
                .uriRoutes()
                .map(route -> route.getUriMatchTemplate().toPathString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public void close() {
        server.stop();
        application.close();
    }
}
