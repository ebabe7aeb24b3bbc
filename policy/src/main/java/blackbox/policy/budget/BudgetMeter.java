package blackbox.policy.budget;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What was spent under one rule. Sums stay at the greatest number instead of wrapping. Owned by one thread.
public final class BudgetMeter {

    private final Budget budget;
    private final Map<Limit, Long> spent = new EnumMap<>(Limit.class);
    private Duration open = Duration.ZERO;

    /// A limit that is exceeded.
    ///
    /// @param spent more than `most`, both in the unit of the limit
    public record Exceeded(Limit limit, long spent, long most) {
        /// For whoever is refused: `the budget of 500 requests is spent`.
        public String words() {
            return "the budget of " + limit.words(most) + " is spent";
        }
    }

    /// With nothing spent.
    public BudgetMeter(Budget budget) {
        this.budget = budget;
    }

    /// Adds what was spent.
    ///
    /// @param amount at least 0, in the unit of `limit`
    public void spend(Limit limit, long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("nothing is given back: " + amount + " " + limit.key());
        }
        spent.merge(limit, amount, BudgetMeter::sum);
    }

    /// Adds time for which a connection was open; fractions of seconds add up.
    ///
    /// @param time not negative
    public void spend(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + time);
        }
        Duration before = open;
        open = sum(before, time);
        spend(Limit.SECONDS, open.toSeconds() - before.toSeconds());
    }

    private static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private static Duration sum(Duration one, Duration other) {
        return other.toSeconds() > Long.MAX_VALUE - 1 - one.toSeconds()
                ? Duration.ofSeconds(Long.MAX_VALUE)
                : one.plus(other);
    }

    /// What was spent so far.
    public long spent(Limit limit) {
        return spent.getOrDefault(limit, 0L);
    }

    /// The first limit, in the order of [Limit], of which more is spent than allowed; null if none is.
    public @Nullable Exceeded exceeded() {
        for (Map.Entry<Limit, Long> limit : budget.limits().entrySet()) {
            long used = spent(limit.getKey());
            if (used > limit.getValue()) {
                return new Exceeded(limit.getKey(), used, limit.getValue());
            }
        }
        return null;
    }
}
