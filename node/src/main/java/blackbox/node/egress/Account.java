package blackbox.node.egress;

import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Mode;
import blackbox.policy.Rule;
import blackbox.policy.budget.Budget;
import blackbox.policy.budget.BudgetMeter;
import blackbox.policy.budget.BudgetMeter.Reached;
import blackbox.policy.budget.Limit;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What was spent under one rule with a budget. Owned by the gateway's loop.
final class Account {
    private final Rule rule;
    private final Budget budget;
    private final Mode mode;
    private final BudgetMeter meter;
    private final LongSupplier nanoTime;
    private final Set<BudgetPassage> open = new HashSet<>();
    private final Set<Limit> told = EnumSet.noneOf(Limit.class);
    private @Nullable Long firstUseNs;
    private long estimated;

    /// @param budget that of the rule
    /// @param nanoTime as [System#nanoTime]
    Account(Rule rule, Budget budget, Mode mode, LongSupplier nanoTime) {
        this.rule = rule;
        this.budget = budget;
        this.mode = mode;
        this.meter = new BudgetMeter(budget);
        this.nanoTime = nanoTime;
    }

    Rule rule() {
        return rule;
    }

    Budget budget() {
        return budget;
    }

    long spent(Limit limit) {
        return meter.spent(limit);
    }

    /// How many calls are among those whose tokens had to be estimated.
    long estimated() {
        return estimated;
    }

    /// Spends a request if nothing is used up; what calls that go on may still spend counts as spent.
    @Nullable
    Ruling begin(BudgetPassage passage) {
        time();
        Map<Limit, Long> expected = new EnumMap<>(Limit.class);
        for (BudgetPassage other : open) {
            other.expected().forEach((limit, amount) -> expected.merge(limit, amount, Account::sum));
        }
        Reached reached = meter.reached(expected);
        Ruling ruling = reached == null ? null : ruling(words(reached));
        if (ruling == null || !ruling.stops()) {
            meter.spend(Limit.REQUESTS, 1);
            if (rule.readsCalls()) {
                open.add(passage);
            }
            if (firstUseNs == null) {
                firstUseNs = nanoTime.getAsLong();
            }
        }
        return ruling;
    }

    private static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private static String words(Reached reached) {
        return reached.spent() >= reached.most()
                ? reached.words()
                : reached.words() + ", and calls that go on may spend the rest; try again when they are over";
    }

    /// Spends octets if so many are left, and the time is not over.
    @Nullable
    Ruling pass(Limit limit, long octets) {
        time();
        Long most = budget.limits().get(Limit.SECONDS);
        long seconds = meter.spent(Limit.SECONDS);
        Reached reached =
                most != null && seconds >= most ? new Reached(Limit.SECONDS, seconds, most) : meter.take(limit, octets);
        if (reached == null) {
            return null;
        }
        if (mode == Mode.ENFORCE) {
            return ruling(reached.words());
        }
        meter.spend(limit, octets);
        return told.add(reached.limit()) ? ruling(reached.words()) : null;
    }

    private void time() {
        Long since = firstUseNs;
        if (since != null) {
            meter.elapsed(Duration.ofNanos(nanoTime.getAsLong() - since));
        }
    }

    private Ruling ruling(String words) {
        String reason = "rule " + rule.id() + ": " + words;
        return Ruling.budget(
                mode == Mode.ENFORCE ? Verdict.spent(rule.id(), reason) : Verdict.wouldDeny(rule.id(), reason));
    }

    /// A ruling on what cannot be counted.
    Ruling uncounted(String why) {
        String reason = "rule " + rule.id() + " limits what calls of models spend, and " + why;
        return new Ruling(
                mode == Mode.ENFORCE ? Verdict.spent(rule.id(), reason) : Verdict.wouldDeny(rule.id(), reason),
                null,
                null,
                403,
                null);
    }

    /// Adds what a call spent.
    ///
    /// @param micros millionths of a US dollar
    void spend(CallSpending spending, long micros) {
        meter.spend(Limit.TOKENS, spending.tokens().all());
        meter.spend(Limit.USD, micros);
        estimated += spending.estimated() ? 1 : 0;
    }

    /// A passage is over, and what it spent is added.
    void end(BudgetPassage passage) {
        open.remove(passage);
        time();
    }
}
