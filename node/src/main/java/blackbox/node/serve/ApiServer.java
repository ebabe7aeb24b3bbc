package blackbox.node.serve;

import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.web.router.Router;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// The HTTP server. Listens from [#start] until it is closed.
public final class ApiServer implements AutoCloseable {

    /// The port that asks for any free one.
    public static final int ANY_PORT = 0;

    private final ApplicationContext application;
    private final EmbeddedServer server;

    private ApiServer(ApplicationContext application, EmbeddedServer server) {
        this.application = application;
        this.server = server;
    }

    /// Starts to listen.
    ///
    /// @throws IOException when the address cannot be listened on
    public static ApiServer start(ApiContext context, ApiAddress address) throws IOException {
        Map<String, Object> properties = Map.of(
                "micronaut.server.host",
                address.host(),
                "micronaut.server.port",
                address.port() == ANY_PORT ? -1 : address.port(),
                "micronaut.server.max-request-size",
                "64KB",
                "micronaut.server.server-header",
                "blackbox",
                "micronaut.server.log-handled-exceptions",
                false);
        ApplicationContext application = ApplicationContext.builder()
                .banner(false)
                .deduceEnvironment(false)
                .environmentPropertySource(false)
                .properties(properties)
                .singletons(context, address)
                .build();
        try {
            application.start();
            EmbeddedServer server = application.getBean(EmbeddedServer.class);
            server.start();
            return new ApiServer(application, server);
        } catch (RuntimeException e) {
            application.close();
            throw new IOException(
                    "cannot listen on " + address.host() + ":" + address.port()
                            + "; if the port is taken, choose another with --listen",
                    e);
        }
    }

    /// Where it listens.
    public URI uri() {
        return server.getURI();
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
