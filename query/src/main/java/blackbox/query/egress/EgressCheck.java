package blackbox.query.egress;

import blackbox.policy.Policy;
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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a policy would have said of what a run sent out.
///
/// @param flows refused ones first
/// @param names that were asked for, refused ones first
/// @param limits in words, what this answer does not know
public record EgressCheck(RunId run, List<JudgedFlow> flows, List<JudgedName> names, List<String> limits) {

    /// Of datagrams, what a machine needs to have a network at all, and what the gateway itself would answer:
    /// DNS and DHCP.
    private static final Set<Integer> OF_THE_NETWORK = Set.of(53, 67, 68, 546, 547);

    public EgressCheck {
        flows = List.copyOf(flows);
        names = List.copyOf(names);
        limits = List.copyOf(limits);
    }

    /// A flow, and what the policy says of its connection.
    public record JudgedFlow(RecordedFlow flow, Decision decision) {
        /// Whether the record does not show all that the policy asks for.
        public boolean isOpen() {
            return decision.verdict() == Verdict.ALLOW && !decision.needs().isEmpty();
        }

        boolean isRefused() {
            return decision.verdict() != Verdict.ALLOW;
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
        var evaluator = new Evaluator(policy, List.of());
        var limits = new ArrayList<String>();
        var flows = new ArrayList<JudgedFlow>();
        long ofTheNetwork = 0;
        long others = 0;
        for (RecordedFlow flow : egress.flows()) {
            Connection connection = connection(flow);
            if (connection == null) {
                others++;
            } else if (connection.transport() == Transport.UDP && OF_THE_NETWORK.contains(connection.port())) {
                ofTheNetwork++;
            } else {
                flows.add(new JudgedFlow(flow, evaluator.decide(new Request.Connect(connection))));
            }
        }
        flows.sort(Comparator.comparing((JudgedFlow each) -> !each.isRefused())
                .thenComparingLong(each -> each.flow().index()));
        List<JudgedName> names = egress.names().stream()
                .map(name -> new JudgedName(name, evaluator.decide(new Request.Dns(name.name(), name.type(), null))))
                .sorted(Comparator.comparing((JudgedName each) -> !each.isRefused())
                        .thenComparingLong(each -> each.name().index()))
                .toList();
        long open = flows.stream().filter(JudgedFlow::isOpen).count();
        if (open > 0) {
            limits.add(open + " of the allowed are allowed as far as the record shows: a policy judges each of their"
                    + " requests, and methods, paths and tools are not recorded");
        }
        if (ofTheNetwork > 0) {
            limits.add(ofTheNetwork + " exchanges of DNS and DHCP are not judged: under a policy the gateway answers"
                    + " them; what was asked is judged name by name");
        }
        if (others > 0) {
            limits.add(
                    others + " exchanges of other protocols than TCP and UDP are not judged: under a policy there are"
                            + " none");
        }
        if (!flows.isEmpty()) {
            limits.add("names of peers are those of TLS, or else what their address was last the answer for; the"
                    + " addresses of the recording host are not known here");
        }
        limits.addAll(egress.limits());
        return new EgressCheck(egress.run(), flows, names, limits);
    }

    private static @Nullable Connection connection(RecordedFlow flow) {
        RecordedFlow.Peer peer = flow.peer();
        Address address = Address.parse(peer.ip());
        Integer port = peer.port();
        Transport transport = switch (peer.protocol()) {
            case "tcp" -> Transport.TCP;
            case "udp" -> Transport.UDP;
            default -> null;
        };
        return transport == null || address == null || port == null
                ? null
                : new Connection(transport, peer.host(), address, port, flow.exe());
    }

    /// How many flows would have been refused.
    public long refused() {
        return flows.stream().filter(JudgedFlow::isRefused).count();
    }

    /// How many names would not have been answered.
    public long unanswered() {
        return names.stream().filter(JudgedName::isRefused).count();
    }

    /// Whether the policy would have let all flows through, as far as the record shows. Names that were only
    /// asked for do not count.
    public boolean holds() {
        return refused() == 0;
    }
}
