package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What an [EgressAuthority] decided.
///
/// @param rule the rule that decided; null if none did, which denies
/// @param reason for people: what a refused agent may read
/// @param upstream dialled in place of the destination; null for the destination itself
/// @param inspection how far the gateway looks into what was allowed
/// @param secret the id of the secret that goes with the request; null if none does
public record Verdict(
        Outcome outcome,
        @Nullable String rule,
        String reason,
        @Nullable HostPort upstream,
        Inspection inspection,
        @Nullable String secret) {

    /// Whether it goes on.
    public boolean allowed() {
        return outcome.goesOn();
    }

    /// Allows it.
    public static Verdict allow(String rule, String reason) {
        return new Verdict(Outcome.ALLOW, rule, reason, null, Inspection.SEALED, null);
    }

    /// Denies it.
    public static Verdict deny(@Nullable String rule, String reason) {
        return new Verdict(Outcome.DENY, rule, reason, null, Inspection.SEALED, null);
    }

    /// Denies what a rule allows, because its budget is spent.
    public static Verdict spent(String rule, String reason) {
        return new Verdict(Outcome.BUDGET, rule, reason, null, Inspection.SEALED, null);
    }

    /// Lets it go on as if it were allowed, and says that it is not.
    public static Verdict wouldDeny(String rule, String reason) {
        return new Verdict(Outcome.WOULD_DENY, rule, reason, null, Inspection.SEALED, null);
    }

    /// The same, looking further into it.
    public Verdict inspecting(Inspection how) {
        return new Verdict(outcome, rule, reason, upstream, how, secret);
    }

    /// The same, by another rule.
    public Verdict by(@Nullable String otherRule) {
        return new Verdict(outcome, otherRule, reason, upstream, inspection, secret);
    }

    /// The same, with another place to dial; null for the destination itself.
    public Verdict via(@Nullable HostPort instead) {
        return new Verdict(outcome, rule, reason, instead, inspection, secret);
    }

    /// The same, with a secret that goes with the request.
    public Verdict with(String secretId) {
        return new Verdict(outcome, rule, reason, upstream, inspection, secretId);
    }
}
