package blackbox.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// How long `./blackbox --help` takes, beside a JVM that only says its version. The two take turns, so that
/// both see the same machine; the medians are reported.
final class HelpTime implements Benchmark {
    private static final int ROUNDS = 21;

    @Override
    public String name() {
        return "help-time";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        List<String> help = List.of(Launcher.PATH.toString(), "--help");
        List<String> bare =
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-version");
        Launcher.time(help);
        List<Duration> helpTimes = new ArrayList<>();
        List<Duration> bareTimes = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            helpTimes.add(Launcher.time(help));
            bareTimes.add(Launcher.time(bare));
        }
        return List.of(BenchResult.of(name(), millisOfMedian(helpTimes), "ms")
                .withGoal(new Goal.AtMost(150))
                .beside("java -version", millisOfMedian(bareTimes)));
    }

    private static double millisOfMedian(List<Duration> times) {
        Collections.sort(times);
        return times.get(times.size() / 2).toNanos() / 1e6;
    }
}
