package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtLeast;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The share of replays that confirm their recording, of the demo's agent and of a parallel build. A single success
/// proves nothing here: what chance and timing can change has to be measured as a rate.
///
/// @param tier `exact` or `live`
record ReplayAgreement(String tier) implements VmBenchmark {
    private static final int RECORDINGS = Scale.CURRENT.rounds(3);
    private static final int REPLAYS = Scale.CURRENT.count(4, 2);
    private static final int JOBS = Scale.CURRENT.count(20, 4);
    private static final Map<String, Double> GOALS = Map.of("exact", 1.0, "live", 0.98);

    @Override
    public String name() {
        return "replay-agreement-" + tier;
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        var verdicts = new TreeMap<String, Integer>();
        Path workspace = parallelBuild(data);
        try {
            for (int i = 0; i < RECORDINGS; i++) {
                JsonNode demo = json(data.command("demo", "--tier", tier, "--json"));
                count(verdicts, demo.path("replay"), 1);
                count(verdicts, replay(data, demo.path("run").asText(), REPLAYS - 1), REPLAYS - 1);
                Launcher.time(data.command(
                        "record", "--tier", tier, "--workspace", workspace.toString(), "--", "make", "-s", "-j4"));
                count(verdicts, replay(data, "last", REPLAYS), REPLAYS);
            }
        } finally {
            Folders.delete(workspace);
        }
        int all = 2 * RECORDINGS * REPLAYS;
        double agree = verdicts.getOrDefault("IDENTICAL", 0) + verdicts.getOrDefault("EQUIVALENT", 0);
        return List.of(BenchResult.of(name(), agree / all, "of replays")
                .withGoal(new AtLeast(GOALS.getOrDefault(tier, 1.0)))
                .alone("a share of replays; all of them is the limit")
                .withNote("%d recordings × %d replays each of the demo's agent and of make -j4 over %d jobs: %s"
                        .formatted(RECORDINGS, REPLAYS, JOBS, verdicts)));
    }

    private static JsonNode replay(VmData data, String run, int times) throws IOException, InterruptedException {
        return json(data.command("replay", run, "--json", "--times", Integer.toString(times)));
    }

    /// @throws IOException when a replay gave no verdict at all
    private static void count(Map<String, Integer> verdicts, JsonNode replay, int expected) throws IOException {
        JsonNode all = replay.path("verdicts");
        if (all.size() != expected) {
            throw new IOException(expected + " verdicts were expected in " + replay);
        }
        for (JsonNode each : all) {
            verdicts.merge(each.path("verdict").asText(), 1, Integer::sum);
        }
    }

    private static JsonNode json(List<String> command) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(Launcher.output(command));
    }

    private static Path parallelBuild(VmData data) throws IOException {
        Path workspace = Files.createTempDirectory(data.folder(), "build-");
        var targets = new ArrayList<String>();
        for (int i = 0; i < JOBS; i++) {
            targets.add("out" + i);
        }
        String rules = targets.stream()
                .map(target -> target + ":\n\tpython3 -c 'print(sum(i * i for i in range(20000)))' > $@\n")
                .collect(Collectors.joining());
        Files.writeString(
                workspace.resolve("Makefile"), "all: " + String.join(" ", targets) + "\n\tcat $^ > sum\n" + rules);
        return workspace;
    }
}
