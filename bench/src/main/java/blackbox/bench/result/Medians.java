package blackbox.bench;

import java.time.Duration;
import java.util.List;

/// The middle of what was measured several times.
final class Medians {
    private Medians() {}

    static double seconds(List<Duration> times) {
        return times.stream().sorted().toList().get(times.size() / 2).toNanos() / 1e9;
    }
}
