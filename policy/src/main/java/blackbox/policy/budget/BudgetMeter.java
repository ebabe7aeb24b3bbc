package blackbox.policy.budget;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What was spent under one rule. Sums stay at the greatest number instead of wrapping. Owned by one thread.
public final class BudgetMeter {

    private final Budget budget;
    private final Map<Limit, Long> spent = new EnumMap<>(Limit.class);

    /// A limit that is reached, or that something would go beyond.
    ///
    /// @param spent so far, in the unit of the limit, like `most`
    public record Reached(Limit limit, long spent, long most) {
        /// For whoever is refused: `the budget of 500 requests is spent`.
        public String words() {
            return "the budget of " + limit.words(most)
                    + (spent >= most ? " is spent" : " does not suffice: " + limit.words(spent) + " are spent");
        }
    }

    /// With nothing spent.
    public BudgetMeter(Budget budget) {
        this.budget = budget;
    }

    /// Spends an amount if all of it is left, and otherwise nothing.
    ///
    /// @param amount at least 0, in the unit of `limit`
    /// @return null if it was spent; always where the budget has no such limit
    public @Nullable Reached take(Limit limit, long amount) {
        Long most = budget.limits().get(limit);
        long before = spent(limit);
        if (most != null && amount > most - before) {
            return new Reached(limit, before, most);
        }
        spend(limit, amount);
        return null;
    }

    /// Adds what was spent already, beyond the limit too.
    ///
    /// @param amount at least 0, in the unit of `limit`
    public void spend(Limit limit, long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("nothing is given back: " + amount + " " + limit.key());
        }
        spent.merge(limit, amount, BudgetMeter::sum);
    }

    /// Says how long ago the rule was used first.
    public void elapsed(Duration sinceFirstUse) {
        spent.merge(Limit.SECONDS, Math.max(0, sinceFirstUse.toSeconds()), Math::max);
    }

    private static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /// What was spent so far.
    public long spent(Limit limit) {
        return spent.getOrDefault(limit, 0L);
    }

    /// The first limit, in the order of [Limit], of which nothing is left; null if something is left of each.
    ///
    /// @param expected what is not spent yet and may be, which counts as if it were
    public @Nullable Reached reached(Map<Limit, Long> expected) {
        for (Map.Entry<Limit, Long> limit : budget.limits().entrySet()) {
            long used = sum(spent(limit.getKey()), expected.getOrDefault(limit.getKey(), 0L));
            if (used >= limit.getValue()) {
                return new Reached(limit.getKey(), spent(limit.getKey()), limit.getValue());
            }
        }
        return null;
    }
}
