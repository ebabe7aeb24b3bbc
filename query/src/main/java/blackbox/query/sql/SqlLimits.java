package blackbox.query.sql;

import java.time.Duration;

/// What one query may use.
public record SqlLimits(int memoryMiBMax, int threadsMax, Duration timeout) {

    /// For a person at a terminal.
    public static final SqlLimits DEFAULT =
            new SqlLimits(1_024, Runtime.getRuntime().availableProcessors(), Duration.ofMinutes(5));

    public SqlLimits {
        if (memoryMiBMax < 64 || threadsMax < 1 || timeout.toSeconds() < 1) {
            throw new IllegalArgumentException("a query needs at least 64 MiB, a thread and a second");
        }
    }
}
