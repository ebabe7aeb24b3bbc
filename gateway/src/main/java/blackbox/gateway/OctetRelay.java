package blackbox.gateway;

import blackbox.gateway.dial.Dialer;
import blackbox.gateway.egress.Metered;
import io.netty.channel.socket.DuplexChannel;

/// Relays octets between the guest and its destination as they are, once that is connected.
public final class OctetRelay implements ConnectionHandler {
    /// It needs nobody to ask.
    public static final Factory FACTORY = (judge, listener, findings) -> new OctetRelay();

    private OctetRelay() {}

    @Override
    public void open(AllowedConnection connection) {
        connection.dial(connection.verdict().upstream()).whenComplete((upstream, failure) -> {
            if (failure != null) {
                connection.refuse(Dialer.reason(failure));
            } else if (connection.isWaiting()) {
                var relay = new Relay((DuplexChannel) upstream, Metered.free());
                relay.start(connection.accept(relay.guestSide()));
            } else {
                var unused = upstream.close();
            }
        });
    }
}
