package blackbox.node.egress;

import blackbox.gateway.egress.AddressPrefix;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Upstream;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Need;
import blackbox.policy.decide.Request;
import blackbox.policy.host.Address;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/// Has a policy decide what a guest may reach. The addresses of allowed names are judged by the gateway, when it has
/// resolved them.
final class PolicyAuthority implements EgressAuthority {

    private final Evaluator evaluator;

    PolicyAuthority(Policy policy) {
        this.evaluator = new Evaluator(policy, List.of());
    }

    @Override
    public CompletionStage<Verdict> name(String host, String type) {
        return CompletableFuture.completedFuture(verdict(evaluator.decide(new Request.Dns(host, type, null))));
    }

    @Override
    public CompletionStage<Verdict> connect(Destination destination) {
        String host = destination.host();
        var connection = new Connection(
                destination.protocol() == Protocol.TCP ? Transport.TCP : Transport.UDP,
                host,
                host == null ? Address.parse(destination.address()) : null,
                destination.port(),
                null);
        return CompletableFuture.completedFuture(verdict(evaluator.decide(new Request.Connect(connection))));
    }

    private Verdict verdict(Decision decision) {
        if (decision.needs().contains(Need.REQUEST) || decision.needs().contains(Need.TOOL)) {
            return Verdict.deny(decision.rule(), decision.reason() + ", which this gateway does not see");
        }
        String rule = decision.rule();
        return switch (decision.verdict()) {
            case DENY -> Verdict.deny(rule, decision.reason());
            case WOULD_DENY -> Verdict.wouldDeny(rule, decision.reason());
            case ALLOW -> {
                Verdict allowed = Verdict.allow(rule, decision.reason());
                Rule by = evaluator.rule(decision);
                yield by == null ? allowed : reach(allowed, by);
            }
        };
    }

    private static Verdict reach(Verdict allowed, Rule by) {
        Upstream upstream = by.upstream();
        Verdict within = allowed.within(by.traffic().addresses().stream()
                .map(range -> AddressPrefix.parse(range.toString()))
                .toList());
        return upstream == null ? within : within.via(new HostPort(upstream.host(), upstream.port()));
    }
}
