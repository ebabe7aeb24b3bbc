package blackbox.policy.budget;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/// What tokens of a model cost, in millionths of a US dollar for a million tokens.
///
/// @param model as requests ask for it
/// @param cached of input that the provider had in its cache; null for the price of input
/// @param cacheWrite of input that it put there; null for the price of input
public record Price(
        String model,
        long input,
        long output,
        @Nullable Long cached,
        @Nullable Long cacheWrite) {

    private static final BigInteger PER = BigInteger.valueOf(1_000_000);

    /// Tokens of one call.
    ///
    /// @param input with those that came from a cache or were put there
    public record Count(long input, long output, long cached, long cacheWritten) {

        /// A call without a cache.
        public Count(long input, long output) {
            this(input, output, 0, 0);
        }

        /// All of them; [Long#MAX_VALUE] if there are more.
        public long all() {
            long sum = input + output;
            return sum < 0 ? Long.MAX_VALUE : sum;
        }
    }

    /// What a call costs in millionths of a US dollar, rounded up; [Long#MAX_VALUE] if it is more.
    public long micros(Count tokens) {
        // A provider that counts more from its cache than in all is not given anything back.
        long plain = Math.max(0, tokens.input - sum(tokens.cached, tokens.cacheWritten));
        BigInteger cost = cost(plain, input)
                .add(cost(tokens.output, output))
                .add(cost(tokens.cached, cached == null ? input : cached))
                .add(cost(tokens.cacheWritten, cacheWrite == null ? input : cacheWrite));
        BigInteger micros = cost.add(PER.subtract(BigInteger.ONE)).divide(PER);
        return micros.bitLength() < Long.SIZE ? micros.longValueExact() : Long.MAX_VALUE;
    }

    private static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private static BigInteger cost(long tokens, long price) {
        return BigInteger.valueOf(tokens).multiply(BigInteger.valueOf(price));
    }
}
