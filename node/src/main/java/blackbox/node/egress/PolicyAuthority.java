package blackbox.node.egress;

import blackbox.calls.rpc.RpcMessage;
import blackbox.gateway.egress.Destination;
import blackbox.gateway.egress.EgressAuthority;
import blackbox.gateway.egress.HostPort;
import blackbox.gateway.egress.Inspection;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.Protocol;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.RequestVerdict;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Upstream;
import blackbox.policy.decide.Builtins;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Exchange;
import blackbox.policy.decide.Need;
import blackbox.policy.decide.Request;
import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import blackbox.policy.host.RequestPath;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Has a policy decide what a guest may reach. Addresses may be asked for on any thread, the rest on the gateway's
/// loop.
final class PolicyAuthority implements EgressAuthority {

    private static final int FORBIDDEN = 403;
    private static final int MISDIRECTED_REQUEST = 421;

    private final Policy policy;
    private final Evaluator evaluator;
    private final Supplier<Set<Address>> own;
    private final Budgets budgets;

    /// @param own the addresses of this host, at the time
    /// @param budgets of the same policy
    PolicyAuthority(Policy policy, Supplier<Set<Address>> own, Budgets budgets) {
        this.budgets = budgets;
        this.policy = policy;
        this.evaluator = new Evaluator(policy, List.of());
        this.own = own;
    }

    @Override
    public CompletionStage<Verdict> name(String host, String type) {
        return CompletableFuture.completedFuture(
                verdict(evaluator.decide(new Request.Dns(host, type, null)), Inspection.SEALED));
    }

    @Override
    public CompletionStage<Verdict> connect(Destination destination) {
        return judged(destination, Request.Connect::new);
    }

    @Override
    public boolean asksProgram(Destination destination) {
        String literal = destination.host() == null ? destination.address() : null;
        return evaluator.asksProgram(connection(destination, literal));
    }

    @Override
    public CompletionStage<Verdict> tls(Destination destination, @Nullable String serverName) {
        return judged(destination, connection -> new Request.Tls(connection, serverName));
    }

    private CompletionStage<Verdict> judged(Destination destination, Function<Connection, Request> question) {
        return CompletableFuture.completedFuture(lookedInto(destination, decide(destination, question)));
    }

    /// By the name first, as long as that says all; then by the address, which was judged by itself when it was dialled
    /// and would otherwise be the reason for every refusal of an upstream's.
    private Decision decide(Destination destination, Function<Connection, Request> question) {
        return decide(evaluator, destination, question);
    }

    private static Decision decide(
            Evaluator evaluator, Destination destination, Function<Connection, Request> question) {
        Decision byName = decideByName(evaluator, destination, question);
        String reached = destination.reached();
        boolean isOpen = byName.verdict() == blackbox.policy.decide.Verdict.ALLOW
                && !byName.needs().isEmpty();
        return isOpen && reached != null ? evaluator.decide(question.apply(connection(destination, reached))) : byName;
    }

    private static Decision decideByName(
            Evaluator evaluator, Destination destination, Function<Connection, Request> question) {
        String literal = destination.host() == null ? destination.address() : null;
        return evaluator.decide(question.apply(connection(destination, literal)));
    }

    /// What must be looked into and may not be opened is refused.
    private Verdict lookedInto(Destination destination, Decision decision) {
        Inspection inspection = inspection(destination, decision);
        boolean sealed = inspection == Inspection.SEALED && policy.mode() == Mode.ENFORCE;
        return sealed && decision.needs().contains(Need.REQUEST)
                ? Verdict.deny(decision.rule(), decision.reason() + ", but its TLS is not opened (tls.pass)")
                : verdict(decision, inspection);
    }

    @Override
    public CompletionStage<RequestVerdict> request(
            Destination destination, @Nullable String serverName, RequestHead head) {
        var exchange = new Exchange(head.method(), head.authority(), head.target(), head.mediaTypes());
        Function<Connection, Request> question = connection -> head.webSocket()
                ? new Request.WebSocket(connection, serverName, exchange)
                : new Request.Http(connection, serverName, exchange);
        Decision byName = decideByName(evaluator, destination, question);
        // Where it is connected now says nothing of a rule that has something else dialled; it is asked again there.
        boolean elsewhere = byName.verdict() == blackbox.policy.decide.Verdict.ALLOW
                && destination.reached() != null
                && !Objects.equals(upstream(byName), destination.upstream());
        Decision decision = elsewhere ? byName : decide(destination, question);
        boolean allowed = decision.verdict() == blackbox.policy.decide.Verdict.ALLOW;
        boolean messages = allowed && decision.needs().contains(Need.TOOL) && !head.webSocket();
        boolean whole =
                decision.needs().isEmpty() || messages && decision.needs().size() == 1;
        Verdict verdict = elsewhere || !allowed || whole
                ? verdict(decision, Inspection.OPEN)
                : Verdict.deny(decision.rule(), decision.reason() + ", which this gateway does not see");
        String target = RequestPath.forwarded(head.target());
        Rule rule = evaluator.rule(decision);
        Passage counted = rule == null ? Passage.FREE : budgets.exchange(rule, head);
        Passage passage = !messages || rule == null
                ? counted
                : new McpPassage(counted, head, policy.mode(), judge(rule, destination, serverName, exchange));
        return CompletableFuture.completedFuture(new RequestVerdict(verdict, target, status(decision), passage));
    }

    /// Judges messages by those rules alone that have dialled what their request goes to.
    private Function<RpcMessage, Decision> judge(
            Rule rule, Destination destination, @Nullable String serverName, Exchange exchange) {
        var there = new Evaluator(policy.dialling(rule.upstream()), List.of());
        return message -> decide(there, destination, connection -> message(connection, serverName, exchange, message));
    }

    private static Request message(
            Connection connection, @Nullable String serverName, Exchange exchange, RpcMessage message) {
        String tool = Request.Mcp.CALL.equals(message.method()) ? message.name() : null;
        return new Request.Mcp(connection, serverName, exchange, message.method(), tool);
    }

    @Override
    public Passage stream(@Nullable String rule) {
        return budgets.stream(rule);
    }

    /// By the rules alone that have dialled what is dialled: that one rule has an upstream on this host lets no other
    /// rule's name lead here.
    @Override
    public Verdict address(Destination destination, String address, @Nullable HostPort upstream) {
        Connection connection = connection(destination, address);
        Policy those = policy.dialling(upstream == null ? null : new Upstream(upstream.host(), upstream.port()));
        Decision decision = new Evaluator(those, own.get()).decide(new Request.Connect(connection));
        return lookedInto(destination, decision);
    }

    private static Connection connection(Destination destination, @Nullable String address) {
        return new Connection(
                destination.protocol() == Protocol.TCP ? Transport.TCP : Transport.UDP,
                destination.host(),
                address == null ? null : Address.parse(address),
                destination.port(),
                destination.exe());
    }

    private static int status(Decision decision) {
        return decision.rule().equals(Builtins.MISDIRECTED) ? MISDIRECTED_REQUEST : FORBIDDEN;
    }

    private Verdict verdict(Decision decision, Inspection inspection) {
        String rule = decision.rule();
        return switch (decision.verdict()) {
            case DENY -> Verdict.deny(rule, decision.reason());
            case WOULD_DENY -> Verdict.wouldDeny(rule, decision.reason()).inspecting(inspection);
            case ALLOW -> {
                Verdict allowed = Verdict.allow(rule, decision.reason()).inspecting(inspection);
                Rule by = evaluator.rule(decision);
                String secret = by == null ? null : by.secret();
                Verdict whole = secret == null ? allowed : allowed.with(secret);
                yield whole.via(upstream(decision));
            }
        };
    }

    private @Nullable HostPort upstream(Decision decision) {
        Rule by = evaluator.rule(decision);
        Upstream upstream = by == null ? null : by.upstream();
        return upstream == null ? null : new HostPort(upstream.host(), upstream.port());
    }

    /// How far to look. What a host says that is told a secret must be HTTP, so that it can be searched, and so must be
    /// what is counted in tokens; else nothing is refused in observe mode for being no HTTP.
    private Inspection inspection(Destination destination, Decision decision) {
        if (destination.host() != null && policy.passes(HostName.of(destination.host()))) {
            return Inspection.SEALED;
        }
        String host = destination.host() == null ? destination.address() : destination.host();
        Rule rule = evaluator.rule(decision);
        boolean read = decision.needs().contains(Need.REQUEST) || rule != null && rule.readsCalls();
        boolean judged = read && policy.mode() == Mode.ENFORCE;
        return judged || GatewayPolicy.tells(policy, host) ? Inspection.REQUESTS : Inspection.OPEN;
    }
}
