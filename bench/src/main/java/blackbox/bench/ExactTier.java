package blackbox.bench;

import blackbox.bench.Goal.AtMost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/// What exact recording and replay cost, and how long it takes to land at an event. Each figure is of whole
/// commands, less what the same command takes for an agent that does nothing.
final class ExactTier implements Benchmark {
    private static final int ROUNDS = 3;
    private static final int IDENTICAL_TIMES = 100;
    private static final int LANDINGS = 5;
    private static final long SEED = 7;
    /// Computes, starts programs and writes files; about five seconds in a live VM of two cores.
    private static final String WORK = """
            for i in $(seq 60); do
                head -c 400000 /dev/zero | sha256sum > sum$i
                python3 -c 'print(sum(i * i for i in range(150000)))' > square$i
            done
            """;

    @Override
    public String name() {
        return "exact";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        record(data, "live", "true"); // make the snapshots, and get QEMU, when they are not there
        record(data, "exact", "true");
        double live = seconds(data, "live", WORK) - seconds(data, "live", "true");
        double nothing = seconds(data, "exact", "true");
        double exact = seconds(data, "exact", WORK) - nothing;
        double log = Files.size(newestLog(data));
        double replay = replaySeconds(data);
        var results = new ArrayList<BenchResult>();
        results.add(landing(data));
        Launcher.time(data.command("record", "--tier", "exact", "--", "true"));
        double replayNothing = replaySeconds(data);
        results.add(
                0,
                BenchResult.of("exact-record", exact / live, "× live")
                        .withGoal(new AtMost(2.5))
                        .withNote(
                                "%.1f s exact, %.1f s live (plain TCG), medians of %d".formatted(exact, live, ROUNDS)));
        results.add(
                1,
                BenchResult.of("exact-replay", (replay - replayNothing) / exact, "× record")
                        .withGoal(new AtMost(1.2))
                        .withNote("%.1f s".formatted(replay - replayNothing)));
        results.add(2, BenchResult.of("replay-log", log / exact / 1024, "KiB/s of run"));
        Launcher.time(data.command("replay", "last", "--times", Integer.toString(IDENTICAL_TIMES)));
        results.add(BenchResult.of("exact-identical", IDENTICAL_TIMES, "replays of one run, all as recorded"));
        return results;
    }

    private static Duration record(VmData data, String tier, String work) throws IOException, InterruptedException {
        return Launcher.time(data.command("record", "--tier", tier, "--", "bash", "-c", work));
    }

    private static double seconds(VmData data, String tier, String work) throws IOException, InterruptedException {
        var times = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            times.add(record(data, tier, work));
        }
        return Medians.seconds(times);
    }

    private static double replaySeconds(VmData data) throws IOException, InterruptedException {
        var times = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            times.add(Launcher.time(data.command("replay", "last")));
        }
        return Medians.seconds(times);
    }

    /// The first landing indexes the run; the others start from what it kept.
    private static BenchResult landing(VmData data) throws IOException, InterruptedException {
        var random = new Random(SEED);
        double cold = land(data, 1_000).toMillis() / 1_000.0;
        var times = new ArrayList<Duration>();
        for (int i = 0; i < LANDINGS; i++) {
            times.add(land(data, 300 + random.nextInt(2_000)));
        }
        return BenchResult.of("seek", Medians.seconds(times), "s")
                .withGoal(new AtMost(5))
                .beside("first-landing", cold)
                .withNote("whole commands: the run is verified and its inputs hashed first; a run of some seconds");
    }

    private static Duration land(VmData data, int index) throws IOException, InterruptedException {
        return Launcher.time(data.command("replay", "last", "--to", Integer.toString(index), "--json"));
    }

    private static Path newestLog(VmData data) throws IOException {
        try (Stream<Path> runs = Files.list(data.folder().resolve("captures"))) {
            return runs.map(run -> run.resolve("rr"))
                    .filter(Files::exists)
                    .max(Comparator.comparing(Path::toString))
                    .orElseThrow(() -> new IOException("no exact run has left a replay log"));
        }
    }
}
