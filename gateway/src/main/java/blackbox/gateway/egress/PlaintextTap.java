package blackbox.gateway.egress;

import java.nio.ByteBuffer;

/// Is told of the octets on a connection whose TLS the gateway opened, as the guest has them. Called on the gateway's
/// loop, in order; what it throws ends the gateway. A buffer is its own until it returns.
public interface PlaintextTap {

    /// The guest sent them.
    void sent(ByteBuffer octets);

    /// The guest is being sent them.
    void received(ByteBuffer octets);

    /// The guest sends no more. At most once.
    void finished();

    /// The connection is over. Called exactly once.
    void over(End how);

    /// Who ended it, and how.
    enum End {
        /// The gateway, after all that it had sent.
        CLOSED,
        /// The gateway broke it off.
        RESET,
        /// The guest did.
        RESET_BY_GUEST
    }
}
