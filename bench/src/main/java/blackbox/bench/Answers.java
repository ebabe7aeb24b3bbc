package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// How long the query commands take on a run of the demo's length: `touched-time`, `verify-time`, `show-time`,
/// `query-time`. They alternate with a JVM that only prints its version, so that all run under the same conditions.
final class Answers implements Benchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(11);
    private static final int MILLIS_MAX = 600;
    private static final Map<String, List<String>> COMMANDS = commands();

    @Override
    public String name() {
        return "answers";
    }

    private static Map<String, List<String>> commands() {
        var commands = new LinkedHashMap<String, List<String>>();
        for (String each : List.of("touched", "verify", "show")) {
            commands.put(each, List.of("last"));
        }
        commands.put("query", List.of("SELECT path, bytes_written FROM files"));
        return commands;
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        try {
            SampleRun.write(data);
            return measure(data);
        } finally {
            Folders.delete(data);
        }
    }

    private static List<BenchResult> measure(Path data) throws Exception {
        var times = new LinkedHashMap<String, List<Duration>>();
        var bareTimes = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            for (var command : COMMANDS.entrySet()) {
                times.computeIfAbsent(command.getKey(), _ -> new ArrayList<>())
                        .add(Launcher.time(words(command.getKey(), data, command.getValue())));
            }
            bareTimes.add(Launcher.time(Launcher.BARE_JVM));
        }
        var results = new ArrayList<BenchResult>();
        times.forEach(
                (command, each) -> results.add(BenchResult.of(command + "-time", 1e3 * Medians.seconds(each), "ms")
                        .withGoal(new Goal.AtMost(MILLIS_MAX))
                        .beside("java -version", 1e3 * Medians.seconds(bareTimes))
                        .withNote("median of " + ROUNDS + ", over a run of " + SampleRun.EVENTS + " events")));
        return results;
    }

    private static List<String> words(String command, Path data, List<String> arguments) {
        var words = new ArrayList<>(List.of(Launcher.PATH.toString(), command, "--data", data.toString()));
        words.addAll(arguments);
        return words;
    }
}
