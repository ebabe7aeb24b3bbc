package blackbox.gateway;

import java.time.Duration;

/// Limits on looking into connections.
///
/// @param handshakeMax how long a TLS handshake may take, on either side
/// @param headMax how long the head of a request may take, and the silence before the first one where only requests are
///     allowed
public record InspectionSettings(Duration handshakeMax, Duration headMax) {

    public static final InspectionSettings DEFAULT =
            new InspectionSettings(Duration.ofSeconds(10), Duration.ofSeconds(30));
}
