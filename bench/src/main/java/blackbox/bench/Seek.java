package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// How long it takes to seek to a moment of an exact run, as whole commands, each of which verifies the run and
/// hashes everything that it was started from. First from an empty index to 10, 50 and 90 % of the run; then from an
/// empty index to the middle, killed halfway and begun again; the others are made when all of it is indexed.
///
/// `-Dblackbox.bench.minutes` says about how long the run is: ten unless told.
final class Seek implements VmBenchmark {
    private static final int SEEKS = Scale.CURRENT.rounds(9);
    private static final long SEED = 7;
    private static final double FIRST_MAX = 1.1;
    private static final List<Integer> FIRST_PERCENTS =
            Scale.CURRENT == Scale.WHOLE ? List.of(10, 50, 90) : List.of(50);
    private static final Duration MARGIN = Duration.ofSeconds(Scale.CURRENT.count(10, 4));
    private static final int ROUNDS_A_MINUTE = 7;
    private static final int ROUNDS =
            Scale.CURRENT.count(Integer.getInteger("blackbox.bench.minutes", 10) * ROUNDS_A_MINUTE, 3);
    /// Alternates between working and waiting, as an agent does, and works for more than half of the time.
    private static final String WORK = """
            for round in $(seq %d); do
                for i in $(seq 12); do
                    head -c 400000 /dev/zero | sha256sum > sum$i
                    python3 -c 'print(sum(i * i for i in range(150000)))' > square$i
                done
                find /usr/lib/python3 -name '*.py' | xargs grep -l import | wc -l
                sleep 2
            done
            """.formatted(ROUNDS);

    @Override
    public String name() {
        return "seek";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        Launcher.time(data.command("record", "--tier", "exact", "--", "true")); // creates the snapshot if there is none
        Launcher.time(data.command("record", "--tier", "exact", "--", "bash", "-c", WORK));
        Recorded run = Recorded.newest(data);
        var results = new ArrayList<BenchResult>();
        for (int percent : FIRST_PERCENTS) {
            results.add(first(run, percent));
        }
        results.add(afterKill(run));
        Duration rest = Launcher.time(data.command("replay", run.id(), "--index"));
        results.add(BenchResult.of("seek-index", seconds(rest), "s")
                .beside("the run itself", seconds(run.length()))
                .withNote("all that the seek to its middle left, and what it left out on its way"));
        results.addFirst(anywhere(run));
        return results;
    }

    private static BenchResult first(Recorded run, int percent) throws IOException, InterruptedException {
        run.forgetIndex();
        Duration there = run.length().multipliedBy(percent).dividedBy(100);
        Duration taken = Launcher.time(run.seekTo(there));
        return BenchResult.of("seek-first-" + percent, seconds(taken), "s")
                .withGoal(new AtMost(FIRST_MAX * seconds(there)))
                .beside("the run up to there", seconds(there))
                .withNote("to %d %% of a run of %d s, from an empty index; the goal is %.1f times the run up to there"
                        .formatted(percent, run.length().toSeconds(), FIRST_MAX));
    }

    /// The seek to the middle is killed when half of the run up to there is likely to be indexed, and begun again.
    private static BenchResult afterKill(Recorded run) throws IOException, InterruptedException {
        run.forgetIndex();
        Duration middle = run.length().dividedBy(2);
        Duration killedAfter = middle.dividedBy(2);
        Launcher.kill(run.seekTo(middle), killedAfter);
        Duration again = Launcher.time(run.seekTo(middle));
        return BenchResult.of("seek-after-kill", seconds(again), "s")
                .withGoal(new AtMost(FIRST_MAX * seconds(middle)))
                .beside("the run up to there", seconds(middle))
                .withNote(
                        "to the middle, after the same seek was killed (SIGKILL) when it had run for %d s; what it had"
                                        .formatted(killedAfter.toSeconds())
                                + " indexed is used");
    }

    private static BenchResult anywhere(Recorded run) throws IOException, InterruptedException {
        long span = run.length().minus(MARGIN.multipliedBy(2)).toMillis();
        var random = new Random(SEED);
        var times = new ArrayList<Duration>();
        var bare = new ArrayList<Duration>();
        for (int i = 0; i < SEEKS; i++) {
            times.add(Launcher.time(run.seekTo(MARGIN.plusMillis(random.nextLong(span)))));
            bare.add(Launcher.time(Launcher.HELP));
        }
        Duration worst = times.stream().max(Duration::compareTo).orElseThrow();
        return BenchResult.of("seek", Medians.seconds(times), "s")
                .withGoal(new AtMost(5))
                .beside("./blackbox --help", Medians.seconds(bare))
                .withNote("median of %d moments of a run of %d s, all of it indexed; worst %.1f s"
                        .formatted(SEEKS, run.length().toSeconds(), seconds(worst)));
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1_000.0;
    }

    /// The run in which to seek.
    private record Recorded(VmData data, String id, Instant began, Duration length) {
        static Recorded newest(VmData data) throws IOException, InterruptedException {
            JsonNode run = data.newestRun();
            Instant began = Instant.parse(run.path("startedAt").asText());
            Instant ended = Instant.parse(run.path("endedAt").asText());
            return new Recorded(data, run.path("run").asText(), began, Duration.between(began, ended));
        }

        List<String> seekTo(Duration sinceBegin) {
            return data.command("replay", id, "--to", began.plus(sinceBegin).toString(), "--json");
        }

        void forgetIndex() throws IOException {
            Path index = new DataFolder(data.folder()).index(new RunId(id));
            if (Files.exists(index)) {
                Folders.delete(index);
            }
        }
    }
}
