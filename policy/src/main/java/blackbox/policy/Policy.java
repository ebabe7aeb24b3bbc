package blackbox.policy;

import blackbox.policy.budget.Price;
import blackbox.policy.host.HostName;
import blackbox.policy.host.HostPattern;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An egress policy. What no rule allows is refused; what `deny` names is refused whatever rules allow.
///
/// @param hold what allowed connections wait for
/// @param rules in order: of those that fit, decisions name the first
/// @param deny in order; their traffic is of every port unless they name some
/// @param pass sorted; TLS to these names is not opened
/// @param prices sorted by model, one each
public record Policy(
        Mode mode,
        Hold hold,
        List<Rule> rules,
        List<Traffic> deny,
        List<HostPattern> pass,
        List<DnsRule> dns,
        List<Secret> secrets,
        List<Price> prices) {

    /// The version of the format.
    public static final int VERSION = 1;

    public Policy {
        rules = List.copyOf(rules);
        deny = List.copyOf(deny);
        pass = pass.stream()
                .distinct()
                .sorted(Comparator.comparing(HostPattern::toString))
                .toList();
        dns = List.copyOf(dns);
        secrets = secrets.stream().sorted(Comparator.comparing(Secret::id)).toList();
        prices = prices.stream().sorted(Comparator.comparing(Price::model)).toList();
    }

    /// What a model costs; null if the policy does not say.
    public @Nullable Price price(String model) {
        return prices.stream()
                .filter(price -> price.model().equals(model))
                .findFirst()
                .orElse(null);
    }

    /// The same with those rules alone that have something dialled.
    ///
    /// @param upstream null for the name itself
    public Policy dialling(@Nullable Upstream upstream) {
        List<Rule> those = rules.stream()
                .filter(rule -> Objects.equals(rule.upstream(), upstream))
                .toList();
        return new Policy(mode, hold, those, deny, pass, dns, secrets, prices);
    }

    /// Whether it has connections wait until the guest tells of them: all that it holds, or those of which a
    /// rule asks for the program.
    public boolean asksGuest() {
        return hold == Hold.CONNECT || rules.stream().anyMatch(rule -> rule.exe() != null);
    }

    /// Whether TLS to a name is not opened, so that nothing inside it can be judged.
    public boolean passes(HostName host) {
        return pass.stream().anyMatch(pattern -> pattern.matches(host));
    }
}
