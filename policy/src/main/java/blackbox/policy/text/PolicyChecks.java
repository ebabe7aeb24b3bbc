package blackbox.policy.text;

import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.Secret;
import blackbox.policy.Traffic;
import blackbox.policy.budget.Price;
import blackbox.policy.host.HostPattern;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Finds entries of a policy that contradict one another or can never matter.
final class PolicyChecks {

    private final Policy policy;
    private final List<Rule> rules;
    private final List<Secret> secrets;
    private final List<Price> prices;
    private final Places places;
    private final List<Problem> problems;

    /// Where entries are, in their order.
    record Places(List<Place> rules, List<Place> deny, List<Place> secrets, List<Place> prices) {
        Places() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    PolicyChecks(
            Policy policy,
            List<Rule> rules,
            List<Secret> secrets,
            List<Price> prices,
            Places places,
            List<Problem> problems) {
        this.prices = prices;
        this.policy = policy;
        this.rules = rules;
        this.secrets = secrets;
        this.places = places;
        this.problems = problems;
    }

    void check() {
        ids();
        prices();
        for (int i = 0; i < rules.size(); i++) {
            rule(rules.get(i), places.rules().get(i));
        }
        for (int i = 0; i < policy.deny().size(); i++) {
            if (policy.deny().get(i).needsRequest()) {
                unseen("deny[" + i + "]", policy.deny().get(i), places.deny().get(i));
            }
        }
    }

    private void ids() {
        Map<String, Place> first = new HashMap<>();
        Map<Object, String> same = new HashMap<>();
        for (int i = 0; i < rules.size(); i++) {
            Rule rule = rules.get(i);
            Place place = places.rules().get(i);
            Place before = first.putIfAbsent(rule.id(), place);
            if (before != null) {
                problem(place, "the id '" + rule.id() + "' is that of the rule at " + before + "; choose another");
            }
            String earlier = same.putIfAbsent(List.of(rule.traffic(), String.valueOf(rule.exe())), rule.id());
            if (earlier != null) {
                problem(
                        place,
                        "rule '" + rule.id() + "' is about the same traffic as '" + earlier
                                + "', which comes first, so it is never used; join the two");
            }
        }
        Set<String> declared = new HashSet<>();
        Set<String> used = new HashSet<>();
        rules.forEach(rule -> used.add(String.valueOf(rule.secret())));
        for (int i = 0; i < secrets.size(); i++) {
            String id = secrets.get(i).id();
            if (!declared.add(id)) {
                problem(places.secrets().get(i), "the secret '" + id + "' is declared twice");
            } else if (!used.contains(id)) {
                problem(
                        places.secrets().get(i),
                        "no rule uses the secret '" + id + "'; add secret: " + id
                                + " to the rule that it is for, or leave it out");
            }
        }
    }

    private void prices() {
        Set<String> models = new HashSet<>();
        for (int i = 0; i < prices.size(); i++) {
            if (!models.add(prices.get(i).model())) {
                problem(places.prices().get(i), "the model '" + prices.get(i).model() + "' has a price already");
            }
        }
    }

    private void rule(Rule rule, Place place) {
        String name = "rule '" + rule.id() + "'";
        Traffic traffic = rule.traffic();
        if (traffic.mcp() != null && rule.readsCalls()) {
            problem(
                    place,
                    name + " limits tokens or usd, which calls of models spend, and mcp is no model; leave them out");
        }
        if (traffic.needsRequest() || rule.secret() != null || rule.readsCalls()) {
            unseen(name, traffic, place);
        }
        String secret = rule.secret();
        if (secret != null
                && !secrets.isEmpty()
                && secrets.stream().noneMatch(each -> each.id().equals(secret))) {
            problem(place, name + " uses the secret '" + secret + "', which is not declared among secrets");
        }
        for (int i = 0; i < policy.deny().size(); i++) {
            if (covers(policy.deny().get(i), traffic)) {
                problem(place, name + " allows nothing: deny[" + i + "] refuses all of it; leave one of them out");
            }
        }
    }

    /// TLS that is not opened shows neither methods nor paths, and no secret can be put into it.
    private void unseen(String name, Traffic traffic, Place place) {
        HostPattern host = traffic.host();
        for (HostPattern pass : policy.pass()) {
            if (host != null && pass.overlaps(host)) {
                problem(
                        place,
                        name + " needs to see requests to " + host + ", but tls.pass has " + pass
                                + ", whose TLS is not opened; leave methods, paths, mcp, secret, tokens and usd out, or the "
                                + "name out of tls.pass");
            }
        }
    }

    private static boolean covers(Traffic deny, Traffic rule) {
        HostPattern denied = deny.host();
        HostPattern allowed = rule.host();
        return !deny.needsRequest()
                && deny.addresses().isEmpty()
                && denied != null
                && allowed != null
                && denied.covers(allowed)
                && rule.ports().ranges().stream()
                        .allMatch(range -> deny.ports().ranges().stream()
                                .anyMatch(all -> all.first() <= range.first() && range.last() <= all.last()));
    }

    private void problem(Place place, String what) {
        problems.add(new Problem(place, what));
    }
}
