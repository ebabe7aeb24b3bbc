package blackbox.gateway.stack;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowEnd.How;
import io.netty.channel.ChannelHandler;

/// A connection that the guest asks for, and has had no answer about.
public interface OpeningConnection {

    Flow flow();

    /// The number of its first segment, 0 to 2^32 - 1.
    long sequence();

    /// Opens it: the guest is told, and the returned channel is registered and active. The guest may never answer.
    ///
    /// @param handler the first of the channel's pipeline
    /// @param ended told how the channel ends, once
    /// @throws IllegalStateException if it is no longer [#isWaiting]
    GuestTcpChannel accept(ChannelHandler handler, EndListener ended);

    /// Does not open it. Nothing happens if the guest has given up.
    void refuse(Refusal why);

    /// Whether the guest still waits for an answer.
    boolean isWaiting();

    /// Has `action` run if the guest gives up, or has to make room for others, before it is answered.
    void onAbandoned(Runnable action);

    /// Receives the end of a connection.
    @FunctionalInterface
    interface EndListener {
        /// Called once the guest has nothing of it any more.
        ///
        /// @param octetsOut how many the guest sent
        /// @param octetsIn how many it acknowledged
        void ended(How how, long octetsOut, long octetsIn);
    }
}
