package blackbox.bench.result;

import java.time.Duration;
import java.util.List;

/// The middle of what was measured several times.
public final class Medians {
    private Medians() {}

    public static double seconds(List<Duration> times) {
        return times.stream().sorted().toList().get(times.size() / 2).toNanos() / 1e9;
    }
}
