package blackbox.gateway.http;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.HostPort;
import io.netty.channel.socket.DuplexChannel;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// What a guest's connection leads to, as a session sees it, which may need more than one connection to it. Used on the
/// loop.
public interface OtherSide {

    /// Where it is, which changes when it is dialled again.
    Destination destination();

    /// Connects again, TLS included.
    ///
    /// @param upstream dialled in its place; null for itself
    /// @return completes on the loop, with auto-read off
    CompletionStage<DuplexChannel> dial(@Nullable HostPort upstream);
}
