package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtLeast;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import blackbox.bench.work.PackageRegistry;
import blackbox.bench.work.Workload;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The share of replays that confirm their recording, of each of several kinds of work. A single success proves
/// nothing here: what chance and timing can change has to be measured as a rate.
///
/// `-Dblackbox.bench.workloads=git,npm` chooses; `-Dblackbox.bench.recordings` and `-Dblackbox.bench.replays`
/// say how many recordings there are of each, and how many replays of each recording.
///
/// @param tier `exact` or `live`
record ReplayAgreement(String tier) implements VmBenchmark {
    private static final String DEMO = "demo";
    private static final int RECORDINGS = Integer.getInteger("blackbox.bench.recordings", Scale.CURRENT.rounds(2));
    private static final int REPLAYS = Integer.getInteger("blackbox.bench.replays", Scale.CURRENT.count(3, 2));
    private static final String CHOSEN = System.getProperty("blackbox.bench.workloads", "");
    private static final Map<String, Double> GOALS = Map.of("exact", 1.0, "live", 0.98);
    /// An exact replay compares every instruction, whatever it was for: two kinds of work are enough.
    private static final Set<String> EXACT = Set.of(DEMO, "make");

    @Override
    public String name() {
        return "replay-agreement-" + tier;
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        var results = new ArrayList<BenchResult>();
        try (PackageRegistry peer = PackageRegistry.start()) {
            for (String name : chosen()) {
                Counts counts = new Counts(name);
                if (name.equals(DEMO)) {
                    demo(data, counts);
                } else {
                    Workload workload = Workload.ALL.stream()
                            .filter(each -> each.name().equals(name))
                            .findFirst()
                            .orElseThrow();
                    replay(data, workload, peer, counts);
                }
                results.add(counts.result());
            }
        }
        return results;
    }

    private List<String> chosen() {
        List<String> known = Stream.concat(
                        Stream.of(DEMO), Workload.ALL.stream().map(Workload::name))
                .filter(each -> tier.equals("live")
                        ? Scale.CURRENT == Scale.WHOLE || EXACT.contains(each)
                        : EXACT.contains(each))
                .toList();
        if (CHOSEN.isEmpty()) {
            return known;
        }
        List<String> chosen = List.of(CHOSEN.split(","));
        var unknown = new TreeSet<>(chosen);
        unknown.remove(DEMO);
        Workload.ALL.forEach(each -> unknown.remove(each.name()));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no work called " + String.join(", ", unknown) + "; choose from " + known);
        }
        return known.stream().filter(chosen::contains).toList();
    }

    private void demo(VmData data, Counts counts) throws IOException, InterruptedException {
        for (int i = 0; i < RECORDINGS; i++) {
            JsonNode demo = json(data.command("demo", "--tier", tier, "--json"));
            counts.add(demo.path("replay"), 1);
            if (REPLAYS > 1) {
                counts.add(replay(data, demo.path("run").asText(), REPLAYS - 1), REPLAYS - 1);
            }
        }
    }

    private void replay(VmData data, Workload workload, PackageRegistry peer, Counts counts)
            throws IOException, InterruptedException {
        for (int i = 0; i < RECORDINGS; i++) {
            workload.record(data, tier, peer);
            counts.add(replay(data, "last", REPLAYS), REPLAYS);
        }
    }

    private static JsonNode replay(VmData data, String run, int times) throws IOException, InterruptedException {
        return json(data.command("replay", run, "--json", "--times", Integer.toString(times)));
    }

    private static JsonNode json(List<String> command) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(Launcher.output(command));
    }

    /// What the replays of one kind of work came to.
    private final class Counts {
        private final String work;
        private final Map<String, Integer> verdicts = new TreeMap<>();
        private final Map<String, Integer> differences = new TreeMap<>();
        private int path;

        Counts(String work) {
            this.work = work;
        }

        /// @throws IOException when a replay gave no verdict at all
        void add(JsonNode replay, int expected) throws IOException {
            JsonNode all = replay.path("verdicts");
            if (all.size() != expected) {
                throw new IOException(expected + " verdicts were expected in " + replay);
            }
            for (JsonNode each : all) {
                verdicts.merge(each.path("verdict").asText(), 1, Integer::sum);
            }
            path += replay.path("levels").path("path").asInt();
            for (JsonNode each : replay.path("differences")) {
                String what =
                        each.path("level").asText() + " " + each.path("kind").asText();
                differences.merge(what, each.path("replays").asInt(), Integer::sum);
            }
        }

        BenchResult result() {
            double agree = verdicts.getOrDefault("IDENTICAL", 0) + verdicts.getOrDefault("EQUIVALENT", 0);
            String others = differences.entrySet().stream()
                    .map(each -> each.getKey() + " in " + each.getValue())
                    .collect(Collectors.joining(", "));
            return BenchResult.of(name() + "-" + work, agree / (RECORDINGS * REPLAYS), "of replays")
                    .withGoal(new AtLeast(GOALS.getOrDefault(tier, 1.0)))
                    .alone("a share of replays; all of them is the limit")
                    .withNote("%d recordings × %d replays: %s; %d of them path%s"
                            .formatted(
                                    RECORDINGS,
                                    REPLAYS,
                                    verdicts,
                                    path,
                                    others.isEmpty() ? "" : "; differences: " + others));
        }
    }
}
