package blackbox.gateway.egress;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an [EgressAuthority] decided.
///
/// @param rule the rule that decided; null if none did, which denies
/// @param reason for people: what a refused agent may read
/// @param upstream dialled in place of the destination, whatever its address; null for the destination itself
/// @param addresses which addresses other than public ones the destination may have
public record Verdict(
        Outcome outcome,
        @Nullable String rule,
        String reason,
        @Nullable HostPort upstream,
        List<AddressPrefix> addresses) {

    public Verdict {
        addresses = List.copyOf(addresses);
    }

    /// Whether it goes on.
    public boolean allowed() {
        return outcome.goesOn();
    }

    /// Allows it, if the destination turns out to have public addresses only.
    public static Verdict allow(String rule, String reason) {
        return new Verdict(Outcome.ALLOW, rule, reason, null, List.of());
    }

    /// Denies it.
    public static Verdict deny(@Nullable String rule, String reason) {
        return new Verdict(Outcome.DENY, rule, reason, null, List.of());
    }

    /// Lets it go on as if it were allowed, and says that it is not.
    public static Verdict wouldDeny(String rule, String reason) {
        return new Verdict(Outcome.WOULD_DENY, rule, reason, null, List.of());
    }

    /// The same, with another place to dial.
    public Verdict via(HostPort instead) {
        return new Verdict(outcome, rule, reason, instead, addresses);
    }

    /// The same, for a destination that may have these addresses, too.
    public Verdict within(List<AddressPrefix> more) {
        return new Verdict(outcome, rule, reason, upstream, more);
    }
}
