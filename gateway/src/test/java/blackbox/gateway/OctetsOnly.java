package blackbox.gateway;

import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// For tests in which nobody looks into a connection.
abstract class OctetsOnly implements EgressAuthority {

    @Override
    public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
        throw new AssertionError("asked about TLS");
    }

    @Override
    public CompletionStage<RequestVerdict> request(
            Destination destination, @Nullable String serverName, RequestHead head) {
        throw new AssertionError("asked about a request");
    }
}
