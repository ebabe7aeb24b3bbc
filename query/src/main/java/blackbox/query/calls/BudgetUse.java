package blackbox.query.calls;

import java.math.BigDecimal;

/// What was spent of one limit of a budget, as the egress gateway counted it.
///
/// @param rule whose budget it is
/// @param limit as a policy writes it: `requests`, `bytesIn`, `bytesOut`, `seconds`, `tokens`, `usd`
/// @param spent in the unit of the limit, like `most`; of `usd` millionths
/// @param estimated how many calls are among it whose tokens the answer did not say
public record BudgetUse(String rule, String limit, long spent, long most, long estimated) {

    /// An amount as people write it.
    public String amount(long of) {
        return limit.equals("usd") ? dollars(of) : String.valueOf(of);
    }

    /// `1.25` of 1,250,000 millionths of a dollar.
    public static String dollars(long micros) {
        BigDecimal dollars = BigDecimal.valueOf(micros, 6).stripTrailingZeros();
        return dollars.setScale(Math.max(2, dollars.scale())).toPlainString();
    }
}
