package blackbox.gateway.http;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.secret.Secrets;
import io.netty.channel.socket.DuplexChannel;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Whom a session's requests go to, and who is asked and told of them.
///
/// @param current where they go now, which changes when it is dialled again
/// @param serverName that of the guest's TLS; null if there is none
/// @param encrypted whether TLS was opened for it
/// @param secrets which may go with requests
/// @param dial connects again, TLS included; completes on the loop, with auto-read off
/// @param headMax how long the head of a request may take, from its first octet
public record HttpPeer(
        Flow flow,
        Supplier<Destination> current,
        @Nullable String serverName,
        boolean encrypted,
        Judge judge,
        GatewayListener listener,
        Findings findings,
        Secrets secrets,
        Supplier<CompletionStage<DuplexChannel>> dial,
        Duration headMax) {
    private static final int HTTP = 80;
    private static final int HTTPS = 443;

    Destination destination() {
        return current.get();
    }

    String scheme() {
        return encrypted ? "https" : "http";
    }

    int schemePort() {
        return encrypted ? HTTPS : HTTP;
    }
}
