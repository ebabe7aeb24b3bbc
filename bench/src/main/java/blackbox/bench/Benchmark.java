package blackbox.bench;

import blackbox.bench.result.BenchResult;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One program of the suite.
interface Benchmark {
    /// The name by which `make bench ONLY=…` chooses it; usually also that of its only result.
    String name();

    /// What this machine lacks for it, in words that say how to mend that; null if it lacks nothing.
    default @Nullable String missing() throws IOException, InterruptedException {
        return null;
    }

    /// Measures. No other benchmark of the suite runs meanwhile. Cleans up after itself.
    ///
    /// @throws Exception when it could not measure; the suite continues and ends with exit code 3
    List<BenchResult> run() throws Exception;
}
