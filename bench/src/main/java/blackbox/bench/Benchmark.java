package blackbox.bench;

import java.util.List;

/// One program of the suite.
interface Benchmark {
    /// The name by which `make bench ONLY=…` chooses it; usually also that of its only result.
    String name();

    /// Measures. Runs alone: nothing else of the suite is at work meanwhile. Cleans up after itself.
    ///
    /// @throws Exception when there is nothing true to report; the suite goes on and ends with exit code 3
    List<BenchResult> run() throws Exception;
}
