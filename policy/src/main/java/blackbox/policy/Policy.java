package blackbox.policy;

import blackbox.policy.host.HostName;
import blackbox.policy.host.HostPattern;
import java.util.Comparator;
import java.util.List;

/// An egress policy. What no rule allows is refused; what `deny` names is refused whatever rules allow.
///
/// @param hold what allowed connections wait for
/// @param rules in order: of those that fit, decisions name the first
/// @param deny in order; their traffic is of every port unless they name some
/// @param pass sorted; TLS to these names is not opened
public record Policy(
        Mode mode,
        Hold hold,
        List<Rule> rules,
        List<Traffic> deny,
        List<HostPattern> pass,
        List<DnsRule> dns,
        List<Secret> secrets) {

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
    }

    /// Whether TLS to a name is not opened, so that nothing inside it can be judged.
    public boolean passes(HostName host) {
        return pass.stream().anyMatch(pattern -> pattern.matches(host));
    }
}
