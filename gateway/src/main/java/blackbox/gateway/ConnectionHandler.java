package blackbox.gateway;

/// What is done with a connection that was allowed: the seam at which TLS and HTTP come in. Called on the loop.
@FunctionalInterface
public interface ConnectionHandler {

    /// Serves the connection: dials and accepts it, in whichever order, or refuses it.
    void open(AllowedConnection connection);
}
