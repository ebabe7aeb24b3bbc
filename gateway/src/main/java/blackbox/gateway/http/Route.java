package blackbox.gateway.http;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Outcome;
import blackbox.gateway.egress.Verdict;
import org.jspecify.annotations.Nullable;

/// Which connection to the other side a request goes over: one is for requests to one place that carry the same secret,
/// or none. What one of them makes a server take the next one for (a connection that has logged in, a request that two
/// servers divide differently) is then never another's credential.
///
/// @param upstream dialled in place of the destination; null for itself
/// @param secret the id of the secret whose value it has; null if it has none
record Route(@Nullable HostPort upstream, @Nullable String secret) {

    /// That of a request.
    ///
    /// @param now where the connection leads: what no rule allows stays there, where it goes on all the same
    static Route of(Verdict verdict, Destination now, @Nullable String secret) {
        return new Route(verdict.outcome() == Outcome.ALLOW ? verdict.upstream() : now.upstream(), secret);
    }
}
