package blackbox.node.egress;

import blackbox.calls.ModelCall;
import blackbox.gateway.egress.HttpExchange;
import blackbox.gateway.egress.Passage;
import blackbox.gateway.egress.RequestHead;
import blackbox.gateway.egress.Ruling;
import blackbox.gateway.egress.Verdict;
import blackbox.policy.Policy;
import blackbox.policy.Rule;
import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import blackbox.policy.budget.Price;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What was spent under the rules of a policy, and asks for what is about to be. Owned by the gateway's loop.
final class Budgets {
    private final Policy policy;
    private final Map<String, Account> accounts = new LinkedHashMap<>();

    /// @param nanoTime as [System#nanoTime]
    Budgets(Policy policy, LongSupplier nanoTime) {
        this.policy = policy;
        for (Rule rule : policy.rules()) {
            Budget budget = rule.budget();
            if (budget != null) {
                accounts.put(rule.id(), new Account(rule, budget, policy.mode(), nanoTime));
            }
        }
    }

    /// What is asked of a request under a rule.
    Passage exchange(Rule rule, RequestHead head) {
        Account account = accounts.get(rule.id());
        return account == null ? Passage.FREE : new BudgetPassage(account, policy, head);
    }

    /// What is asked of a connection under a rule, on which something else than HTTP is spoken.
    ///
    /// @param rule null if none allows it
    Passage stream(@Nullable String rule) {
        if (rule == null) {
            return new Passage() {
                @Override
                public Ruling begins() {
                    return Ruling.budget(Verdict.deny(null, "no rule allows what this connection came to"));
                }
            };
        }
        Account account = accounts.get(rule);
        return account == null ? Passage.FREE : new BudgetPassage(account, policy, null);
    }

    /// What a call cost.
    ///
    /// @param micros millionths of a US dollar; null if its price or its tokens are not known
    record Cost(@Nullable Long micros, boolean estimated) {}

    /// Adds what an exchange spent that is over. Without a rule that limits it, tokens that the answer does not say are
    /// not estimated.
    ///
    /// @param call that it made; null if none was read
    /// @param sent octets of the request's body, decoded where that was possible
    /// @param answered octets of the answer's body, likewise
    Cost spend(HttpExchange exchange, @Nullable ModelCall call, long sent, long answered) {
        CallSpending spending = CallSpending.of(exchange, call, sent, answered);
        Long micros = call == null ? null : micros(call, spending);
        Account account = exchange.rule() == null ? null : accounts.get(exchange.rule());
        if (account != null && account.rule().readsCalls()) {
            account.spend(spending, micros != null ? micros : dearest(spending));
            return new Cost(micros, spending.estimated());
        }
        return new Cost(spending.estimated() ? null : micros, false);
    }

    private long dearest(CallSpending spending) {
        return policy.prices().stream()
                .mapToLong(price -> price.micros(spending.tokens()))
                .max()
                .orElse(0);
    }

    /// By the model that was asked for, or by the one that answered where that is dearer.
    private @Nullable Long micros(ModelCall call, CallSpending spending) {
        return Stream.of(call.request().model(), call.response().model())
                .filter(Objects::nonNull)
                .map(policy::price)
                .filter(Objects::nonNull)
                .map((Price price) -> price.micros(spending.tokens()))
                .max(Long::compare)
                .orElse(null);
    }

    /// What was spent of one limit.
    ///
    /// @param estimated calls among it whose tokens had to be estimated
    record Spent(String rule, Limit limit, long spent, long most, long estimated) {}

    /// What was spent of each limit of the rules that were used.
    List<Spent> spent() {
        var all = new ArrayList<Spent>();
        for (Account account : accounts.values()) {
            account.budget().limits().forEach((limit, most) -> {
                boolean ofCalls = limit == Limit.TOKENS || limit == Limit.USD;
                if (account.spent(Limit.REQUESTS) > 0) {
                    all.add(new Spent(
                            account.rule().id(), limit, account.spent(limit), most, ofCalls ? account.estimated() : 0));
                }
            });
        }
        return all;
    }
}
