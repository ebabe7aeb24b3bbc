package blackbox.gateway;

import blackbox.gateway.dial.DialException;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Verdict;
import blackbox.gateway.stack.GuestTcpChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// A guest's connection that a rule allows, and that has had no answer yet. Used on the loop only.
public interface AllowedConnection {

    Flow flow();

    /// With where the host is connected, once it is.
    Destination destination();

    /// Once the host is connected, it looks as far as the address asks for.
    Verdict verdict();

    /// Connects. May be called again, for another connection.
    ///
    /// @param upstream dialled in place of the destination, as a verdict names it; null for the destination itself
    /// @return a channel with auto-read off, completed on the loop, or a [DialException]
    CompletionStage<Channel> dial(@Nullable HostPort upstream);

    /// Tells the guest that it is connected. The channel is registered and active on return.
    ///
    /// @param handler the first of its pipeline; a [io.netty.channel.ChannelInitializer] adds more
    /// @throws IllegalStateException if the guest no longer waits
    GuestTcpChannel accept(ChannelHandler handler);

    /// Tells it why it is not.
    void refuse(DialException why);

    /// Whether the guest still waits for an answer.
    boolean isWaiting();
}
