package blackbox.policy.decide;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/// What a policy says of a request, and why.
///
/// @param rule the id of the rule that decided; `deny[N]` or `dns[N]` by place, counted from 0; `builtin:NAME`
///     for what no policy changes; `default` where no rule allows it
/// @param reason a sentence for whoever is refused, without a full stop; cut if a rule makes it long
/// @param needs what must be asked again before this verdict counts; empty if it is final
public record Decision(Verdict verdict, Stage stage, String rule, String reason, Set<Need> needs) {

    /// What decisions name that follow from no rule.
    public static final String DEFAULT = "default";

    /// What the names of decisions begin with that no policy changes; they are enforced in every mode.
    public static final String BUILTIN = "builtin:";

    private static final int REASON_MAX = 400;

    public Decision {
        reason = reason.length() <= REASON_MAX ? reason : reason.substring(0, REASON_MAX) + "…";
        needs = needs.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(needs));
    }

    /// Whether what was asked may go on: it is allowed, or the policy only observes.
    public boolean goesOn() {
        return verdict != Verdict.DENY;
    }
}
