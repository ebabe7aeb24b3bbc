package blackbox.policy;

import blackbox.policy.budget.Budget;
import org.jspecify.annotations.Nullable;

/// Traffic that a policy allows.
///
/// @param id unique in its policy: decisions name it
/// @param exe the program's absolute path in the guest; null for any. It can only narrow: it is the guest's
///     word
/// @param secret the id of a secret that goes with requests under this rule
public record Rule(
        String id,
        Traffic traffic,
        @Nullable String exe,
        @Nullable String secret,
        @Nullable Budget budget,
        @Nullable Upstream upstream) {}
