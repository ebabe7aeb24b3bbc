package blackbox.node.egress;

import blackbox.gateway.tls.RunAuthority;
import java.time.Instant;

/// What the gateway of one run decides by, and what it opens TLS with.
///
/// @param authority the run's own, whose key is nowhere but here
public record RunEgress(EgressRequest request, RunAuthority authority) {

    /// Makes it for a run that begins now.
    public static RunEgress of(EgressRequest request, Instant now) {
        return new RunEgress(request, RunAuthority.create(now));
    }
}
