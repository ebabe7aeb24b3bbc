package blackbox.node.egress;

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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Has a policy decide what a guest may reach. Immutable, so any thread may ask.
final class PolicyAuthority implements EgressAuthority {

    private final Policy policy;
    private final Evaluator evaluator;
    private final Supplier<Set<Address>> own;

    /// @param own the addresses of this host, at the time
    PolicyAuthority(Policy policy, Supplier<Set<Address>> own) {
        this.policy = policy;
        this.evaluator = new Evaluator(policy, List.of());
        this.own = own;
    }

    @Override
    public CompletionStage<Verdict> name(String host, String type) {
        return CompletableFuture.completedFuture(verdict(evaluator.decide(new Request.Dns(host, type, null))));
    }

    @Override
    public CompletionStage<Verdict> connect(Destination destination) {
        Address literal = destination.host() == null ? Address.parse(destination.address()) : null;
        return CompletableFuture.completedFuture(verdict(evaluator.decide(request(destination, literal))));
    }

    @Override
    public Verdict address(Destination destination, String address) {
        return verdict(new Evaluator(policy, own.get()).decide(request(destination, Address.parse(address))));
    }

    private static Request request(Destination destination, @Nullable Address address) {
        return new Request.Connect(new Connection(
                destination.protocol() == Protocol.TCP ? Transport.TCP : Transport.UDP,
                destination.host(),
                address,
                destination.port(),
                null));
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
                Upstream upstream = by == null ? null : by.upstream();
                yield upstream == null ? allowed : allowed.via(new HostPort(upstream.host(), upstream.port()));
            }
        };
    }
}
