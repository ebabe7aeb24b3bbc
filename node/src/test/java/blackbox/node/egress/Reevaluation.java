package blackbox.node.egress;

import blackbox.policy.Mode;
import blackbox.policy.Policy;
import blackbox.policy.decide.Connection;
import blackbox.policy.decide.Connection.Transport;
import blackbox.policy.decide.Decision;
import blackbox.policy.decide.Evaluator;
import blackbox.policy.decide.Exchange;
import blackbox.policy.decide.Need;
import blackbox.policy.decide.Request;
import blackbox.policy.decide.Verdict;
import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import blackbox.query.run.RunFacts;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.RunView;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Evaluates the decisions of a record again, by nothing but the record: the policy that is in it, and what each event
/// says of what was decided on. Which addresses were the recording host's own, only that host knew; that is taken from
/// the decisions that say so.
final class Reevaluation {
    private final StringBuilder policyText = new StringBuilder();
    private final Map<String, Flow> flows = new HashMap<>();
    private final List<String> differing = new ArrayList<>();
    private @Nullable Policy policy;
    private int agreed;
    private int gatewaysOwn;
    private boolean restsOnTheHost;

    /// What earlier decisions said of a connection.
    private static final class Flow {
        @Nullable
        String reached;

        @Nullable
        String serverName;

        @Nullable
        String exe;
    }

    /// How many have the verdict and the rule that the policy gives.
    int agreed() {
        return agreed;
    }

    /// How many are refusals of the gateway's own, which no rule can undo.
    int gatewaysOwn() {
        return gatewaysOwn;
    }

    /// Whether a refusal follows from more than a policy and an address: that the address is the host's own, or that
    /// TLS
    /// is passed which would have to be opened.
    boolean restsOnTheHost() {
        return restsOnTheHost;
    }

    /// Those that differ, in words.
    List<String> differing() {
        return differing;
    }

    /// The policy of the record.
    Policy policy() {
        Policy known = policy;
        if (known != null) {
            return known;
        }
        try {
            Policy read = PolicyReader.read(policyText.toString().getBytes(StandardCharsets.UTF_8));
            policy = read;
            return read;
        } catch (PolicyException e) {
            throw new AssertionError("the record has no policy that can be read", e);
        }
    }

    void see(EventView event) {
        switch (event) {
            case RunView.Policy piece ->
                policyText.append(RunFacts.detailOf(piece.row()).path("text").asText());
            case NetView.Decision decision -> decided(decision);
            default -> {}
        }
    }

    private void decided(NetView.Decision recorded) {
        JsonNode detail = RunFacts.detailOf(recorded.row());
        String rule = detail.path("rule").textValue();
        String verdict = String.valueOf(recorded.verdict());
        if (rule == null) {
            if (verdict.equals("deny")) {
                gatewaysOwn++;
            } else {
                differing.add("allowed by no rule: " + detail);
            }
            return;
        }
        Decision again = evaluate(recorded, detail, rule);
        boolean sealed = isSealed(recorded, again);
        restsOnTheHost |= sealed || rule.equals("builtin:own");
        String word = sealed ? "deny" : again.verdict().word();
        if (word.equals(verdict) && again.rule().equals(rule)) {
            agreed++;
        } else {
            differing.add(verdict + " by " + rule + ", and again " + word + " by " + again.rule() + ": " + detail);
        }
    }

    /// What must be looked into and is not opened.
    private boolean isSealed(NetView.Decision recorded, Decision again) {
        boolean passes = recorded.host() != null && policy().passes(HostName.of(String.valueOf(recorded.host())));
        return passes
                && policy().mode() == Mode.ENFORCE
                && again.verdict() == Verdict.ALLOW
                && again.needs().contains(Need.REQUEST);
    }

    private Decision evaluate(NetView.Decision recorded, JsonNode detail, String rule) {
        Set<Address> own = new HashSet<>();
        String host = recorded.host() == null ? null : recorded.host().toString();
        Flow flow = flows.computeIfAbsent(
                recorded.localPort() + " " + recorded.remoteIp() + " " + recorded.remotePort(), _ -> new Flow());
        String stage = detail.path("stage").asText();
        return switch (stage) {
            case "dns" ->
                new Evaluator(policy(), own)
                        .decide(new Request.Dns(
                                String.valueOf(host), detail.path("asked").asText(), null));
            case "connect" -> {
                flow.exe = detail.path("exe").textValue();
                yield byName(recorded, host, flow, Request.Connect::new);
            }
            case "dial" -> {
                flow.reached = ip(detail.path("address").asText());
                if (rule.equals("builtin:own")) {
                    own.add(address(flow.reached));
                }
                yield new Evaluator(policy(), own)
                        .decide(new Request.Connect(connection(recorded, host, flow, flow.reached)));
            }
            case "tls" -> {
                flow.serverName = detail.path("serverName").textValue();
                yield byNameOrAddress(recorded, host, flow, to -> new Request.Tls(to, flow.serverName));
            }
            case "http", "ws" -> {
                Exchange exchange = exchange(detail);
                yield byNameOrAddress(
                        recorded,
                        host,
                        flow,
                        to -> stage.equals("ws")
                                ? new Request.WebSocket(to, flow.serverName, exchange)
                                : new Request.Http(to, flow.serverName, exchange));
            }
            default -> throw new AssertionError("a stage that nobody knows: " + stage);
        };
    }

    private Decision byName(
            NetView.Decision recorded, @Nullable String host, Flow flow, Function<Connection, Request> question) {
        String literal = host == null ? String.valueOf(recorded.remoteIp()) : null;
        return new Evaluator(policy(), List.of()).decide(question.apply(connection(recorded, host, flow, literal)));
    }

    private Decision byNameOrAddress(
            NetView.Decision recorded, @Nullable String host, Flow flow, Function<Connection, Request> question) {
        Decision first = byName(recorded, host, flow, question);
        boolean isOpen = first.verdict() == Verdict.ALLOW && !first.needs().isEmpty();
        return isOpen && flow.reached != null
                ? new Evaluator(policy(), List.of())
                        .decide(question.apply(connection(recorded, host, flow, flow.reached)))
                : first;
    }

    private static Exchange exchange(JsonNode detail) {
        var types = new HashSet<String>();
        detail.path("mediaTypes").forEach(type -> types.add(type.asText()));
        return new Exchange(
                detail.path("method").asText(),
                detail.path("authority").asText(),
                detail.path("target").asText(),
                types);
    }

    private static Connection connection(
            NetView.Decision recorded, @Nullable String host, Flow flow, @Nullable String ip) {
        Long port = recorded.remotePort();
        return new Connection(
                String.valueOf(recorded.protocol()).equals("tcp") ? Transport.TCP : Transport.UDP,
                host,
                ip == null ? null : address(ip),
                port == null ? 0 : port.intValue(),
                flow.exe);
    }

    private static Address address(String ip) {
        Address address = Address.parse(ip);
        if (address == null) {
            throw new AssertionError("the record has no address: " + ip);
        }
        return address;
    }

    private static String ip(String addressAndPort) {
        String ip = addressAndPort.substring(0, addressAndPort.lastIndexOf(':'));
        return ip.startsWith("[") ? ip.substring(1, ip.length() - 1) : ip;
    }
}
