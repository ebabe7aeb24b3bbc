package blackbox.policy.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.policy.budget.BudgetMeter.Exceeded;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BudgetMeterTest {

    @Test
    void aLimitIsExceededByWhatGoesBeyondIt() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.REQUESTS, 2L)));
        meter.spend(Limit.REQUESTS, 1);
        meter.spend(Limit.REQUESTS, 1);
        meter.spend(Limit.BYTES_OUT, Long.MAX_VALUE);
        assertNull(meter.exceeded(), "what is not limited is not exceeded");
        meter.spend(Limit.REQUESTS, 1);
        assertEquals(new Exceeded(Limit.REQUESTS, 3, 2), meter.exceeded());
    }

    @Test
    void sumsDoNotWrap() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.BYTES_IN, Budget.AMOUNT_MAX)));
        meter.spend(Limit.BYTES_IN, Long.MAX_VALUE);
        meter.spend(Limit.BYTES_IN, Long.MAX_VALUE);
        assertEquals(new Exceeded(Limit.BYTES_IN, Long.MAX_VALUE, Budget.AMOUNT_MAX), meter.exceeded());
    }

    @Test
    void partsOfSecondsAddUp() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.SECONDS, 1L)));
        for (int i = 0; i < 19; i++) {
            meter.spend(Duration.ofMillis(100));
        }
        assertNull(meter.exceeded());
        meter.spend(Duration.ofMillis(100));
        assertEquals(new Exceeded(Limit.SECONDS, 2, 1), meter.exceeded());
        meter.spend(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
        meter.spend(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
        assertEquals(new Exceeded(Limit.SECONDS, Long.MAX_VALUE, 1), meter.exceeded());
    }

    @Test
    void whoeverIsRefusedIsToldTheLimit() {
        assertEquals("the budget of 0.5 US dollars is spent", new Exceeded(Limit.USD, 500_001, 500_000).words());
        assertEquals("the budget of 20 US dollars is spent", new Exceeded(Limit.USD, 1 << 30, 20_000_000).words());
        assertEquals("the budget of 3 tokens is spent", new Exceeded(Limit.TOKENS, 4, 3).words());
    }

    @Test
    void nothingIsGivenBackAndNoLimitIsNothing() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.TOKENS, 1L)));
        assertThrows(IllegalArgumentException.class, () -> meter.spend(Limit.TOKENS, -1));
        assertThrows(IllegalArgumentException.class, () -> meter.spend(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> new Budget(Map.of(Limit.TOKENS, 0L)));
        assertThrows(IllegalArgumentException.class, () -> new Budget(Map.of(Limit.TOKENS, Budget.AMOUNT_MAX + 1)));
    }
}
