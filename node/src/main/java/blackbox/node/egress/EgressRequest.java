package blackbox.node.egress;

import blackbox.gateway.tls.HostTrust;
import blackbox.policy.Policy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// What a run may reach through the egress gateway.
///
/// @param policy one that the gateway can hold, see [GatewayPolicy#beyond]
/// @param upstreams whom the gateway trusts outside
/// @param secrets that go with requests; the gateway of the run closes them
/// @param holdMax how long a connection that the policy holds waits for the guest's word
public record EgressRequest(Policy policy, X509TrustManager upstreams, GivenSecrets secrets, Duration holdMax) {

    /// Unless the user says otherwise. The guest tells of a connection within some 20 ms of its own time; one that is
    /// emulated on a busy host took up to 1.3 s, and only what nobody began waits to the end.
    public static final Duration HOLD_MAX = Duration.ofSeconds(5);

    /// @throws IllegalArgumentException if the gateway cannot hold the policy
    public EgressRequest {
        List<String> beyond = GatewayPolicy.beyond(policy);
        if (!beyond.isEmpty()) {
            throw new IllegalArgumentException("the gateway cannot hold this policy: " + beyond);
        }
    }

    /// With the authorities that this host trusts.
    ///
    /// @param upstreamCa a PEM file of more; null for none
    /// @throws IOException if they cannot be read; says which file
    public static EgressRequest of(Policy policy, @Nullable Path upstreamCa, GivenSecrets secrets, Duration holdMax)
            throws IOException {
        return new EgressRequest(policy, HostTrust.of(upstreamCa), secrets, holdMax);
    }
}
