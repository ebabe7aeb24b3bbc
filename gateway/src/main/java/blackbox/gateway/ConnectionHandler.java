package blackbox.gateway;

import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Judge;

/// What is done with a connection that was allowed: the seam at which TLS and HTTP come in. Called on the loop.
@FunctionalInterface
public interface ConnectionHandler {

    /// Serves the connection: dials and accepts it, in whichever order, or refuses it.
    void open(AllowedConnection connection);

    /// Makes one for a gateway, with whom it asks and tells.
    @FunctionalInterface
    interface Factory {
        ConnectionHandler of(Judge judge, GatewayListener listener, Findings findings);
    }
}
