package blackbox.gateway.dial;

import java.time.Duration;

/// Limits on dialling.
///
/// @param connectMax how long a connection may take, resolving its name included
/// @param nextAfter how long to wait for one address before the next is tried beside it (RFC 8305)
/// @param resolvers how many names are resolved at once
/// @param dialsMax how many connections are being dialled at once
public record DialSettings(Duration connectMax, Duration nextAfter, int resolvers, int dialsMax) {

    public static final DialSettings DEFAULT =
            new DialSettings(Duration.ofSeconds(15), Duration.ofMillis(250), 8, 1_024);
}
