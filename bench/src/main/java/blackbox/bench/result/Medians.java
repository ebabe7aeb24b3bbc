package blackbox.bench.result;

import java.time.Duration;
import java.util.List;

/// The median of several measurements.
public final class Medians {
    private Medians() {}

    public static double seconds(List<Duration> times) {
        return times.stream().sorted().toList().get(times.size() / 2).toNanos() / 1e9;
    }
}
