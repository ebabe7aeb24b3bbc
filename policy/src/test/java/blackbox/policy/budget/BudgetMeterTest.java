package blackbox.policy.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.policy.budget.BudgetMeter.Reached;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BudgetMeterTest {

    private static final Map<Limit, Long> NOTHING = Map.of();

    @Test
    void whatIsLeftIsTakenAndNoMore() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.BYTES_OUT, 10L)));
        assertNull(meter.take(Limit.BYTES_OUT, 4));
        assertEquals(new Reached(Limit.BYTES_OUT, 4, 10), meter.take(Limit.BYTES_OUT, 7));
        assertEquals(4, meter.spent(Limit.BYTES_OUT), "nothing was taken");
        assertNull(meter.reached(NOTHING));
        assertNull(meter.take(Limit.BYTES_OUT, 6));
        assertNull(meter.take(Limit.BYTES_OUT, 0));
        assertEquals(new Reached(Limit.BYTES_OUT, 10, 10), meter.reached(NOTHING));
        assertNull(meter.take(Limit.BYTES_IN, Long.MAX_VALUE), "what is not limited");
        assertEquals(Long.MAX_VALUE, meter.spent(Limit.BYTES_IN));
    }

    @Test
    void whatMayStillBeSpentCounts() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.TOKENS, 10L, Limit.USD, 10L)));
        meter.spend(Limit.TOKENS, 6);
        assertNull(meter.reached(Map.of(Limit.TOKENS, 3L)));
        assertEquals(new Reached(Limit.TOKENS, 6, 10), meter.reached(Map.of(Limit.TOKENS, 4L)));
        assertEquals(new Reached(Limit.USD, 0, 10), meter.reached(Map.of(Limit.USD, Long.MAX_VALUE)));
    }

    @Test
    void sumsDoNotWrap() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.BYTES_IN, Budget.AMOUNT_MAX)));
        meter.spend(Limit.BYTES_IN, Long.MAX_VALUE);
        meter.spend(Limit.BYTES_IN, Long.MAX_VALUE);
        Reached reached = new Reached(Limit.BYTES_IN, Long.MAX_VALUE, Budget.AMOUNT_MAX);
        assertEquals(reached, meter.reached(Map.of(Limit.BYTES_IN, Long.MAX_VALUE)));
        assertEquals(reached, meter.take(Limit.BYTES_IN, 1));
    }

    @Test
    void timeRunsFromTheFirstUseAndNotBack() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.SECONDS, 90L)));
        meter.elapsed(Duration.ofMillis(89_999));
        assertNull(meter.reached(NOTHING));
        meter.elapsed(Duration.ofSeconds(90));
        meter.elapsed(Duration.ofSeconds(-1));
        assertEquals(new Reached(Limit.SECONDS, 90, 90), meter.reached(NOTHING));
    }

    @Test
    void whoeverIsRefusedIsToldTheLimit() {
        assertEquals("the budget of 0.5 US dollars is spent", new Reached(Limit.USD, 500_001, 500_000).words());
        assertEquals("the budget of 20 US dollars is spent", new Reached(Limit.USD, 1 << 30, 20_000_000).words());
        assertEquals(
                "the budget of 9 octets sent does not suffice: 4 octets sent are spent",
                new Reached(Limit.BYTES_OUT, 4, 9).words());
    }

    @Test
    void nothingIsGivenBackAndNoLimitIsNothing() {
        var meter = new BudgetMeter(new Budget(Map.of(Limit.TOKENS, 1L)));
        assertThrows(IllegalArgumentException.class, () -> meter.spend(Limit.TOKENS, -1));
        assertThrows(IllegalArgumentException.class, () -> new Budget(Map.of(Limit.TOKENS, 0L)));
        assertThrows(IllegalArgumentException.class, () -> new Budget(Map.of(Limit.TOKENS, Budget.AMOUNT_MAX + 1)));
    }

    @Test
    void costsAreRoundedUpAndDoNotWrap() {
        var plain = new Price("m", 3_000_000, 15_000_000, null, null);
        assertEquals(18, plain.micros(new Price.Count(1, 1)), "3 and 15 dollars for a million");
        assertEquals(1, new Price("m", 1, 0, null, null).micros(new Price.Count(1, 1_000)), "rounded up");
        assertEquals(0, new Price("m", 0, 0, null, null).micros(new Price.Count(Long.MAX_VALUE, Long.MAX_VALUE)));
        var cached = new Price("m", 3_000_000, 15_000_000, 300_000L, 3_750_000L);
        assertEquals(30 + 300 * 3 / 10 + 375 + 150, cached.micros(new Price.Count(410, 10, 300, 100)));
        assertEquals(30 + 300, plain.micros(new Price.Count(110, 0, 100, 0)), "the price of input where none is given");
        assertEquals(30, cached.micros(new Price.Count(5, 0, 100, 0)), "a cache that holds more than there was");
        assertEquals(Long.MAX_VALUE, plain.micros(new Price.Count(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, 1)));
    }
}
