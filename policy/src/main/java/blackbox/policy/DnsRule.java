package blackbox.policy;

import blackbox.policy.host.HostPattern;
import java.util.List;

/// Records beside addresses that may be asked of a name.
///
/// @param types sorted, of [#TYPES]
public record DnsRule(HostPattern host, List<String> types) {

    /// The types that a rule can name.
    public static final List<String> TYPES = List.of("MX", "SRV", "TXT");

    public DnsRule {
        types = types.stream().distinct().sorted().toList();
    }
}
