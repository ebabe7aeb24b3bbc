package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How long `./blackbox --help` takes, compared with a JVM that only prints its version. The two alternate, so that
/// both run under the same conditions; the medians are reported.
final class HelpTime implements Benchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(21);

    @Override
    public String name() {
        return "help-time";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        Launcher.time(Launcher.HELP);
        List<Duration> helpTimes = new ArrayList<>();
        List<Duration> bareTimes = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            helpTimes.add(Launcher.time(Launcher.HELP));
            bareTimes.add(Launcher.time(Launcher.BARE_JVM));
        }
        return List.of(BenchResult.of(name(), 1e3 * Medians.seconds(helpTimes), "ms")
                .withGoal(new Goal.AtMost(150))
                .beside("java -version", 1e3 * Medians.seconds(bareTimes)));
    }
}
