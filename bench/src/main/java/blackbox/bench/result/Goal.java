package blackbox.bench.result;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a result is compared with.
public sealed interface Goal {
    /// The value may not exceed `limit`, in the result's own unit.
    record AtMost(double limit) implements Goal {}

    /// The value may not fall below `limit`, in the result's own unit.
    record AtLeast(double limit) implements Goal {}

    /// The value may not fall below `ratio` times what was measured beside it.
    record AtLeastOfBeside(double ratio) implements Goal {}

    /// The value may not exceed what was measured beside it by more than `excess`, in the result's own unit.
    record AtMostOverBeside(double excess) implements Goal {}

    /// Whether the goal is met by `value`; one of what is beside it is not if nothing was measured there.
    default boolean isMetBy(double value, BenchResult.@Nullable Beside beside) {
        return switch (this) {
            case AtMost most -> value <= most.limit();
            case AtLeast least -> value >= least.limit();
            case AtLeastOfBeside of -> beside != null && value >= of.ratio() * beside.value();
            case AtMostOverBeside over -> beside != null && value - beside.value() <= over.excess();
        };
    }

    /// The goal in words: `at most 150 ms`, `at least 0.6 of openssl-sha256`, `at most 1 ms over direct`.
    default String text(String unit, BenchResult.@Nullable Beside beside) {
        return switch (this) {
            case AtMost most -> "at most " + number(most.limit()) + " " + unit;
            case AtLeast least -> "at least " + number(least.limit()) + " " + unit;
            case AtLeastOfBeside of -> "at least " + number(of.ratio()) + " of " + nameOf(beside);
            case AtMostOverBeside over -> "at most " + number(over.excess()) + " " + unit + " over " + nameOf(beside);
        };
    }

    private static String nameOf(BenchResult.@Nullable Beside beside) {
        return beside == null ? "what is beside it" : beside.name();
    }

    /// Whole numbers from 100 up, three significant digits below.
    static String number(double value) {
        if (value >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return new BigDecimal(value)
                .round(new MathContext(3))
                .stripTrailingZeros()
                .toPlainString();
    }
}
