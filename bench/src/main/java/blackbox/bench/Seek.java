package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// How long it takes to seek to a moment of a run of ten minutes, as whole commands, each of which verifies
/// the run and hashes everything that it was started from. The first seek indexes the run.
final class Seek implements VmBenchmark {
    private static final int SEEKS = Scale.CURRENT.rounds(9);
    private static final long SEED = 7;
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
        JsonNode run = newest(data);
        Instant began = Instant.parse(run.path("startedAt").asText());
        Duration recorded =
                Duration.between(began, Instant.parse(run.path("endedAt").asText()));
        Duration span = recorded.minus(MARGIN.multipliedBy(2));
        Duration first = seek(data, began.plus(MARGIN));
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
                                .formatted(SEEKS, recorded.toSeconds(), worst.toMillis() / 1_000.0)),
                BenchResult.of("seek-first", first.toMillis() / 1_000.0, "s")
                        .beside("the run itself", recorded.toMillis() / 1_000.0)
                        .withNote("including the pass that indexes the run, which `serve` does ahead of time"));
    }

    private static JsonNode newest(VmData data) throws IOException, InterruptedException {
        JsonNode runs = new ObjectMapper().readTree(Launcher.output(data.command("runs", "--json")));
        return runs.path(runs.size() - 1);
    }

    private static Duration seek(VmData data, Instant moment) throws IOException, InterruptedException {
        return Launcher.time(data.command("replay", "last", "--to", moment.toString(), "--json"));
    }
}
