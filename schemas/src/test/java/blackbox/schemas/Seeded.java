package blackbox.schemas;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// A small seeded generator for property tests: the seed is printed, and `-Dblackbox.seed=N` repeats a run.
public final class Seeded {

    private Seeded() {}

    /// A generator for `test`.
    public static RandomGenerator random(String test) {
        long seed = Long.getLong("blackbox.seed", System.nanoTime());
        System.out.println(test + ": -Dblackbox.seed=" + seed);
        return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    /// Up to `most` random octets.
    public static byte[] octets(RandomGenerator random, int most) {
        var octets = new byte[random.nextInt(most + 1)];
        random.nextBytes(octets);
        return octets;
    }
}
