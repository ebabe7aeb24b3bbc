package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// How long it takes to seek to a moment of a run of ten minutes, as whole commands, each of which verifies
/// the run and hashes everything that it was started from. The first seek, to its middle, indexes the run up to there;
/// the others are made when all of it is indexed.
final class Seek implements VmBenchmark {
    private static final int SEEKS = Scale.CURRENT.rounds(9);
    private static final long SEED = 7;
    private static final double FIRST_MAX = 1.1;
    private static final Duration MARGIN = Duration.ofSeconds(Scale.CURRENT.count(10, 4));
    /// Alternates between working and waiting, as an agent does: about ten minutes, more than half of them
    /// working.
    private static final String WORK = """
            for round in $(seq %d); do
                for i in $(seq 12); do
                    head -c 400000 /dev/zero | sha256sum > sum$i
                    python3 -c 'print(sum(i * i for i in range(150000)))' > square$i
                done
                find /usr/lib/python3 -name '*.py' | xargs grep -l import | wc -l
                sleep 2
            done
            """.formatted(Scale.CURRENT.count(75, 3));

    @Override
    public String name() {
        return "seek";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        Launcher.time(data.command("record", "--tier", "exact", "--", "true")); // creates the snapshot if there is none
        Launcher.time(data.command("record", "--tier", "exact", "--", "bash", "-c", WORK));
        JsonNode run = data.newestRun();
        Instant began = Instant.parse(run.path("startedAt").asText());
        Duration recorded =
                Duration.between(began, Instant.parse(run.path("endedAt").asText()));
        Duration span = recorded.minus(MARGIN.multipliedBy(2));
        Duration half = recorded.dividedBy(2);
        Duration first = seek(data, began.plus(half));
        Duration rest = Launcher.time(data.command("replay", "last", "--index"));
        var random = new Random(SEED);
        var times = new ArrayList<Duration>();
        var bare = new ArrayList<Duration>();
        for (int i = 0; i < SEEKS; i++) {
            times.add(seek(data, began.plus(MARGIN).plusMillis(random.nextLong(span.toMillis()))));
            bare.add(Launcher.time(Launcher.HELP));
        }
        var worst = times.stream().max(Duration::compareTo).orElseThrow();
        return List.of(
                BenchResult.of("seek", Medians.seconds(times), "s")
                        .withGoal(new AtMost(5))
                        .beside("./blackbox --help", Medians.seconds(bare))
                        .withNote("median of %d moments of a run of %d s, worst %.1f s"
                                .formatted(SEEKS, recorded.toSeconds(), seconds(worst))),
                BenchResult.of("seek-first", seconds(first), "s")
                        .withGoal(new AtMost(FIRST_MAX * seconds(half)))
                        .beside("the run up to there", seconds(half))
                        .withNote(
                                "from an empty index; the goal is %.1f times the run up to there".formatted(FIRST_MAX)),
                BenchResult.of("seek-index", seconds(rest), "s")
                        .beside("the run itself", seconds(recorded))
                        .withNote("all that the first seek left, and what it left out on its way"));
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1_000.0;
    }

    private static Duration seek(VmData data, Instant moment) throws IOException, InterruptedException {
        return Launcher.time(data.command("replay", "last", "--to", moment.toString(), "--json"));
    }
}
