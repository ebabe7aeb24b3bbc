package blackbox.node.egress;

import blackbox.gateway.secret.SecretPlace;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Secret;
import blackbox.policy.budget.Limit;
import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import blackbox.policy.host.HostPattern;
import blackbox.policy.text.CanonicalPolicy;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/// What the gateway can hold of a policy, and the policy in the record.
public final class GatewayPolicy {

    /// Characters of the canonical form in one event, which JSON at most triples.
    private static final int PIECE = 16 << 10;

    /// Limits of budgets in one event.
    private static final int SPENT_MAX = 200;

    private GatewayPolicy() {}

    /// What in a policy the gateway cannot hold, a sentence each. It judges names, addresses, ports, programs,
    /// HTTP and MCP requests: under a rule that also asks for something else it would let through too much, or
    /// nothing.
    public static List<String> beyond(Policy policy) {
        var beyond = new ArrayList<String>();
        for (Rule rule : policy.rules()) {
            String where = "rule " + rule.id() + ": ";
            if (rule.limits(Limit.USD) && policy.prices().isEmpty()) {
                beyond.add(where + "a budget of usd needs prices of models, and the policy has none");
            }
        }
        for (Secret secret : policy.secrets()) {
            try {
                var unused = SecretPlace.parse(secret.place());
            } catch (IllegalArgumentException e) {
                beyond.add("secret " + secret.id() + ": " + e.getMessage());
            }
        }
        if (!policy.dns().isEmpty()) {
            beyond.add("dns: records other than addresses are not answered");
        }
        return beyond;
    }

    /// Whether some rule lets a secret go to a host, whatever else it asks of a request.
    ///
    /// @param host a name in lower case, or an address
    static boolean tells(Policy policy, String host) {
        Address address = Address.parse(host);
        return policy.rules().stream()
                .filter(rule -> rule.secret() != null)
                .map(Rule::traffic)
                .anyMatch(traffic -> {
                    HostPattern pattern = traffic.host();
                    return pattern == null
                            ? address != null && address.isIn(traffic.addresses())
                            : address == null && pattern.matches(HostName.of(host));
                });
    }

    /// What was spent of its budgets, as events, in order.
    static List<Event> spent(Policy policy, List<Budgets.Spent> spent, long atNs) {
        String digest = CanonicalPolicy.digest(policy);
        var events = new ArrayList<Event>();
        for (int from = 0; from < spent.size(); from += SPENT_MAX) {
            var detail = new ObjectMapper().createObjectNode();
            var all = detail.putArray("spent");
            for (Budgets.Spent each : spent.subList(from, Math.min(spent.size(), from + SPENT_MAX))) {
                all.addObject()
                        .put("rule", each.rule())
                        .put("limit", each.limit().key())
                        .put("spent", each.spent())
                        .put("most", each.most())
                        .put("estimated", each.estimated());
            }
            events.add(new Event.EgressPolicy(EventHeader.host(atNs), digest, detail.toString()));
        }
        return events;
    }

    /// Its canonical form as events, in order.
    public static List<Event> events(Policy policy, long atNs) {
        String text = CanonicalPolicy.text(policy);
        String digest = CanonicalPolicy.digest(policy);
        int pieces = Math.max(1, (text.length() + PIECE - 1) / PIECE);
        var events = new ArrayList<Event>(pieces);
        for (int part = 0; part < pieces; part++) {
            var detail = new ObjectMapper().createObjectNode();
            detail.put("part", part).put("of", pieces);
            detail.put("text", text.substring(part * PIECE, Math.min(text.length(), (part + 1) * PIECE)));
            events.add(new Event.EgressPolicy(EventHeader.host(atNs), digest, detail.toString()));
        }
        return events;
    }
}
