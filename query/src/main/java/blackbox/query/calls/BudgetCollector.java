package blackbox.query.calls;

import blackbox.query.run.RunFacts;
import blackbox.schemas.view.RunView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/// Gathers what a run spent of its policy's budgets, which its gateway says at its end.
public final class BudgetCollector {

    /// How many limits one answer has.
    private static final int KEPT_MAX = 10_000;

    private final List<BudgetUse> uses = new ArrayList<>();
    private long unkept;

    /// Takes the next `egress.policy`.
    public void see(RunView.Policy policy) {
        for (JsonNode each : RunFacts.detailOf(policy.row()).path("spent")) {
            if (uses.size() == KEPT_MAX) {
                unkept++;
            } else {
                uses.add(new BudgetUse(
                        each.path("rule").asText("?"),
                        each.path("limit").asText("?"),
                        each.path("spent").asLong(),
                        each.path("most").asLong(),
                        each.path("estimated").asLong()));
            }
        }
    }

    /// In the order of the policy's rules.
    public List<BudgetUse> uses() {
        return List.copyOf(uses);
    }

    public List<String> limits() {
        var limits = new ArrayList<String>();
        if (unkept > 0) {
            limits.add("only " + KEPT_MAX + " limits of budgets are listed; there are " + unkept + " more");
        }
        if (uses.stream().anyMatch(use -> use.estimated() > 0)) {
            limits.add(
                    "tokens that an answer of a model did not say were counted against the budget by the octets of the"
                            + " call, 32768 at least; what they were is not known");
        }
        return limits;
    }
}
