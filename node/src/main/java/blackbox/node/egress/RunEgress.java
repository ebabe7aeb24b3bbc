package blackbox.node.egress;

import blackbox.gateway.egress.FlowWitness;
import blackbox.gateway.tls.RunAuthority;
import blackbox.policy.Hold;
import blackbox.recorder.guest.EventSink;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What the gateway of one run decides by, and what it opens TLS with.
///
/// @param authority the run's own, whose key is nowhere but here
/// @param connections what the guest tells of its connections; null where the policy does not ask for that
public record RunEgress(
        EgressRequest request,
        RunAuthority authority,
        @Nullable GuestConnections connections) {

    /// Makes it for a run that begins now.
    public static RunEgress of(EgressRequest request, Instant now) {
        boolean holds = request.policy().hold() == Hold.CONNECT;
        return new RunEgress(
                request,
                RunAuthority.create(now),
                request.policy().asksGuest() ? new GuestConnections(request.holdMax(), holds) : null);
    }

    /// Where the guest's events go, so that the gateway knows of its connections.
    public EventSink before(EventSink recorder) {
        return connections == null ? recorder : connections.before(recorder);
    }

    /// No connection waits for the guest's word any longer.
    void endHold() {
        if (connections != null) {
            connections.giveUp();
        }
    }

    FlowWitness witness() {
        return connections == null ? FlowWitness.NONE : connections;
    }
}
