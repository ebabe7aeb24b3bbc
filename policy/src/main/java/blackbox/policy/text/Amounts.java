package blackbox.policy.text;

import blackbox.policy.budget.Budget;
import blackbox.policy.budget.Limit;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Amounts as people write them: `500`, `200MB`, `3M`, `2h`, `0.50`.
final class Amounts {

    private static final Pattern WITH_UNIT = Pattern.compile("([0-9]{1,18})([A-Za-z]*)");
    private static final Pattern DOLLARS = Pattern.compile("[0-9]{1,12}(\\.[0-9]{1,6})?");

    private static final Map<String, Long> COUNTS = Map.of("", 1L, "k", 1_000L, "M", 1_000_000L, "G", 1_000_000_000L);
    private static final Map<String, Long> SECONDS = Map.of("", 1L, "s", 1L, "m", 60L, "h", 3_600L);
    private static final Map<String, Long> OCTETS = Map.of(
            "", 1L,
            "kB", 1_000L,
            "MB", 1_000_000L,
            "GB", 1_000_000_000L,
            "TB", 1_000_000_000_000L,
            "KiB", 1L << 10,
            "MiB", 1L << 20,
            "GiB", 1L << 30,
            "TiB", 1L << 40);

    private Amounts() {}

    /// An amount in the unit of its limit.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    static long read(Limit limit, String text) {
        return switch (limit) {
            case REQUESTS, TOKENS -> number(text, COUNTS, "500, 20k or 3M");
            case BYTES_IN, BYTES_OUT -> number(text, OCTETS, "1048576, 200MB or 1GiB");
            case SECONDS -> number(text, SECONDS, "90, 10m or 2h");
            case USD -> inRange(micros(text));
        };
    }

    /// Millionths of a dollar, from 0.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is no price
    static long price(String text) {
        return micros(text).longValueExact(); // twelve digits and six decimals at most
    }

    private static BigInteger micros(String text) {
        if (!DOLLARS.matcher(text).matches()) {
            throw new IllegalArgumentException("write dollars with at most six decimals, such as 20 or 0.50");
        }
        return new BigDecimal(text).movePointRight(6).toBigIntegerExact();
    }

    private static long number(String text, Map<String, Long> units, String examples) {
        Matcher parts = WITH_UNIT.matcher(text);
        Long unit = parts.matches() ? units.get(parts.group(2)) : null;
        if (unit == null) {
            throw new IllegalArgumentException("write it as " + examples);
        }
        return inRange(new BigInteger(parts.group(1)).multiply(BigInteger.valueOf(unit)));
    }

    private static long inRange(BigInteger amount) {
        if (amount.signum() == 0) {
            throw new IllegalArgumentException("it is more than 0; to allow nothing, leave out the rule");
        }
        if (amount.compareTo(BigInteger.valueOf(Budget.AMOUNT_MAX)) > 0) {
            throw new IllegalArgumentException("it is at most 2^53-1 of its smallest unit");
        }
        return amount.longValueExact();
    }
}
