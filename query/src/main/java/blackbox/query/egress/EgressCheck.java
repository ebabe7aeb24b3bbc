package blackbox.query.egress;

import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Request;
import blackbox.policy.decide.Verdict;
import blackbox.policy.host.Address;
import blackbox.schemas.RunId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a policy would have said of what a run sent out.
///
/// @param unkept how many events showed more than is judged here
/// @param flows those that are not allowed first
/// @param attempts what the egress gateway refused already, in the same order
/// @param names that were asked for, refused ones first
/// @param limits in words, what this answer does not know
public record EgressCheck(
        RunId run,
        long unkept,
        List<JudgedFlow> flows,
        List<JudgedFlow> attempts,
        List<JudgedName> names,
        List<String> limits) {

    /// Rules that a note names.
    private static final int LISTED_MAX = 5;

    /// The word for what no policy can be asked about.
    private static final String NOT_JUDGED = "not-judged";

    public EgressCheck {
        flows = List.copyOf(flows);
        attempts = List.copyOf(attempts);
        names = List.copyOf(names);
        limits = List.copyOf(limits);
    }

    /// A flow, and what the policy says of its connection.
    ///
    /// @param decision null if it cannot be judged
    /// @param note what else to know about that, a sentence without a full stop
    public record JudgedFlow(
            RecordedFlow flow,
            @Nullable Decision decision,
            @Nullable String note) {
        /// Whether the record does not show all that the policy asks for.
        public boolean isOpen() {
            return isAllowed() && decision != null && !decision.needs().isEmpty();
        }

        boolean isAllowed() {
            return decision != null && decision.verdict() == Verdict.ALLOW;
        }

        boolean isRefused() {
            return decision != null && decision.verdict() != Verdict.ALLOW;
        }

        /// The verdict, or that there is none.
        public String verdict() {
            return decision == null ? NOT_JUDGED : decision.verdict().word();
        }
    }

    /// A name, and what the policy says of the question.
    public record JudgedName(RecordedName name, Decision decision) {
        boolean isRefused() {
            return decision.verdict() != Verdict.ALLOW;
        }
    }

    /// Judges what a run sent out.
    public static EgressCheck of(Policy policy, RecordedEgress egress) {
        var asIs = new Evaluator(policy, List.of());
        // Without a gateway an address was reached, not what would have been dialled in its place.
        var evaluator = egress.gateway() ? asIs : new Evaluator(withoutUpstreams(policy), List.of());
        var limits = new ArrayList<String>();
        List<RecordedFlow> judged = egress.flows().stream()
                .filter(flow -> !OwnNetwork.isUpkeep(flow.peer()))
                .toList();
        List<JudgedFlow> flows = judged(evaluator, judged, egress.gateway());
        List<JudgedFlow> attempts = judged(evaluator, egress.attempts(), egress.gateway());
        List<JudgedName> names = egress.names().stream()
                .map(name -> new JudgedName(name, asIs.decide(new Request.Dns(name.name(), name.type(), null))))
                .sorted(Comparator.comparing((JudgedName each) -> !each.isRefused())
                        .thenComparingLong(each -> each.name().index()))
                .toList();
        long open = flows.stream().filter(JudgedFlow::isOpen).count();
        if (open > 0) {
            limits.add(
                    open + " of the allowed are allowed as far as the record shows: a policy judges each of their"
                            + " requests, and methods, paths and tools are not judged here: `touched --egress` lists the requests that a gateway saw");
        }
        List<String> limited = policy.rules().stream()
                .filter(rule -> rule.budget() != null)
                .map(Rule::id)
                .toList();
        if (!limited.isEmpty() && !flows.isEmpty()) {
            limits.add("budgets are not judged here, since what is spent depends on when: those of "
                    + String.join(", ", limited.subList(0, Math.min(LISTED_MAX, limited.size())))
                    + (limited.size() > LISTED_MAX ? " and others" : "")
                    + "; `touched --egress` says what a run spent of the budgets that it had");
        }
        int upkeep = egress.flows().size() - judged.size();
        if (upkeep > 0) {
            limits.add(upkeep + " exchanges with the guest's own network (its resolver, DHCP, neighbours) are not"
                    + " judged: they end there; what was asked of the resolver is judged name by name");
        }
        if (!flows.isEmpty()) {
            limits.add(
                    egress.gateway()
                            ? "names and addresses of peers are those of the gateway's decisions; the addresses of the"
                                    + " recording host are not known here"
                            : "names of peers are those that the network's resolver had given the address for before;"
                                    + " the addresses of the recording host are not known here");
        }
        limits.addAll(egress.limits());
        return new EgressCheck(egress.run(), egress.unkept(), flows, attempts, names, limits);
    }

    private static Policy withoutUpstreams(Policy policy) {
        List<Rule> rules = policy.rules().stream()
                .map(rule -> new Rule(rule.id(), rule.traffic(), rule.exe(), rule.secret(), rule.budget(), null))
                .toList();
        return new Policy(
                policy.mode(),
                policy.hold(),
                rules,
                policy.deny(),
                policy.pass(),
                policy.dns(),
                policy.secrets(),
                policy.prices());
    }

    private static List<JudgedFlow> judged(Evaluator evaluator, List<RecordedFlow> flows, boolean gateway) {
        return flows.stream()
                .map(flow -> judged(evaluator, flow, gateway))
                .sorted(Comparator.comparing(JudgedFlow::isAllowed)
                        .thenComparingLong(each -> each.flow().index()))
                .toList();
    }

    private static JudgedFlow judged(Evaluator evaluator, RecordedFlow flow, boolean gateway) {
        RecordedFlow.Peer peer = flow.peer();
        Integer port = peer.port();
        Transport transport = switch (peer.protocol()) {
            case "tcp" -> Transport.TCP;
            case "udp" -> Transport.UDP;
            default -> null;
        };
        if (transport == null) {
            return new JudgedFlow(
                    flow, null, "a policy is about TCP; under one, the gateway lets no other protocol through");
        }
        Address recorded = peer.ip() == null ? null : Address.parse(OwnNetwork.withoutZone(peer.ip()));
        if (port == null || recorded == null && (peer.ip() != null || peer.host() == null)) {
            return new JudgedFlow(flow, null, "the record does not have an address and a port that could be judged");
        }
        Address address = recorded == null || gateway ? recorded : OwnNetwork.reached(recorded);
        Decision decision = evaluator.decide(
                new Request.Connect(new Connection(transport, peer.host(), address, port, flow.exe())));
        return new JudgedFlow(flow, decision, peer.claimed() == null ? null : disbelief(gateway));
    }

    private static String disbelief(boolean gateway) {
        return (gateway
                        ? "the guest said another name than the one to which the gateway connected it"
                        : "the guest said another name, for which no answer of the network's resolver before it gave"
                                + " that address")
                + ", so that name is not believed";
    }

    /// How many flows would have been refused.
    public long refused() {
        return flows.stream().filter(JudgedFlow::isRefused).count();
    }

    /// How many flows no policy can be asked about.
    public long notJudged() {
        return flows.stream().filter(each -> each.decision() == null).count();
    }

    /// How many names would not have been answered.
    public long unanswered() {
        return names.stream().filter(JudgedName::isRefused).count();
    }

    /// Whether the policy would have let all flows through, as far as the record shows. Names that were only
    /// asked for, and what the gateway refused already, do not count; where more was recorded than is judged, it
    /// does not hold.
    public boolean holds() {
        return unkept == 0 && flows.stream().allMatch(JudgedFlow::isAllowed);
    }
}
