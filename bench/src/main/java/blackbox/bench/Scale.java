package blackbox.bench;

import java.nio.file.Path;

/// How much a benchmark does. The code is the same at both scales; what the smallest measures shows only that it can
/// be measured.
enum Scale {
    /// As much as the figure takes.
    WHOLE,
    /// As little as goes through all of the benchmark's code.
    SMALLEST;

    /// This process's: `-Dblackbox.bench.scale=smallest`, else whole.
    static final Scale CURRENT = System.getProperty("blackbox.bench.scale", "").equals("smallest") ? SMALLEST : WHOLE;

    /// How often something is measured: once at the smallest.
    int rounds(int whole) {
        return count(whole, 1);
    }

    /// How much of something there is.
    int count(int whole, int smallest) {
        return this == WHOLE ? whole : smallest;
    }

    /// Where the results are kept. Those of the smallest are not among the others.
    Path results() {
        return this == WHOLE ? Path.of("bench", "results.json") : Path.of("bench", "target", "results-smallest.json");
    }
}
