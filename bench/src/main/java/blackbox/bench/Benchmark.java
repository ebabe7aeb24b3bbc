package blackbox.bench;

import blackbox.bench.result.BenchResult;
import java.util.List;

/// One program of the suite.
interface Benchmark {
    /// The name by which `make bench ONLY=…` chooses it; usually also that of its only result.
    String name();

    /// Measures. No other benchmark of the suite runs meanwhile. Cleans up after itself.
    ///
    /// @throws Exception when it could not measure; the suite continues and ends with exit code 3
    List<BenchResult> run() throws Exception;
}
