package blackbox.gateway.http;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.Findings;
import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.GatewayListener;
import blackbox.gateway.egress.Judge;
import blackbox.gateway.secret.Secrets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Whom a session's requests go to, and who is asked and told of them.
///
/// @param otherSide where they go
/// @param serverName that of the guest's TLS; null if there is none
/// @param encrypted whether TLS was opened for it
/// @param secrets which may go with requests
/// @param headMax how long the head of a request may take, from its first octet
public record HttpPeer(
        Flow flow,
        OtherSide otherSide,
        @Nullable String serverName,
        boolean encrypted,
        Judge judge,
        GatewayListener listener,
        Findings findings,
        Secrets secrets,
        Duration headMax) {
    private static final int HTTP = 80;
    private static final int HTTPS = 443;

    Destination destination() {
        return otherSide.destination();
    }

    String scheme() {
        return encrypted ? "https" : "http";
    }

    int schemePort() {
        return encrypted ? HTTPS : HTTP;
    }
}
