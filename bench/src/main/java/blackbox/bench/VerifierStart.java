package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VerifierJar;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How large the verifier's jar is, and how long it takes to answer.
final class VerifierStart implements Benchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(11);

    @Override
    public String name() {
        return "verifier-start";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        List<String> command = VerifierJar.command("--version");
        List<String> bare = List.of(command.getFirst(), "-version");
        Launcher.time(command);
        List<Duration> times = new ArrayList<>();
        List<Duration> bareTimes = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            times.add(Launcher.time(command));
            bareTimes.add(Launcher.time(bare));
        }
        return List.of(
                BenchResult.of(name(), 1e3 * Medians.seconds(times), "ms")
                        .beside("java -version", 1e3 * Medians.seconds(bareTimes)),
                BenchResult.of("verifier-size", Files.size(VerifierJar.PATH) / (double) (1 << 20), "MiB")
                        .withGoal(new Goal.AtMost(5))
                        .alone("a size has no speed to compare with; it is what the jar was cut down to"));
    }
}
