package blackbox.bench;

import java.nio.file.Path;

/// How much a benchmark does. The code is the same at both scales; a result at the smallest shows only that
/// measuring works.
enum Scale {
    /// As much as it takes to get a reliable figure.
    WHOLE,
    /// Just enough to run all of the benchmark's code.
    SMALLEST;

    /// This process's: `-Dblackbox.bench.scale=smallest`, else whole.
    static final Scale CURRENT = System.getProperty("blackbox.bench.scale", "").equals("smallest") ? SMALLEST : WHOLE;

    /// How many times something is measured: once at the smallest scale.
    int rounds(int whole) {
        return count(whole, 1);
    }

    /// How much of something there is.
    int count(int whole, int smallest) {
        return this == WHOLE ? whole : smallest;
    }

    /// Where the results are stored. Those of the smallest scale are kept apart.
    Path results() {
        return this == WHOLE ? Path.of("bench", "results.json") : Path.of("bench", "target", "results-smallest.json");
    }
}
