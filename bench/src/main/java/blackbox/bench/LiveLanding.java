package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtLeast;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import blackbox.bench.work.PackageRegistry;
import blackbox.bench.work.PausedReplay;
import blackbox.bench.work.Workload;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Landing at moments of runs that were recorded live: the share of landings that are at the right event, by
/// what the paused machine is about to report, and how long the first one takes, which executes the run again.
///
/// Each run is of another kind of work, in turn. `-Dblackbox.bench.recordings` says how many runs there are.
final class LiveLanding implements VmBenchmark {
    private static final int RUNS = Integer.getInteger("blackbox.bench.recordings", Scale.CURRENT.rounds(20));
    private static final int MOMENTS = Scale.CURRENT.count(5, 2);
    private static final long SEED = 11;
    private static final double FIRST_MAX = 2.5;
    private static final double RIGHT_MIN = 0.95;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Random random = new Random(SEED);
    private final List<String> notRight = new ArrayList<>();
    private final List<Double> ratios = new ArrayList<>();
    private int right;
    private int otherNames;
    private int refused;

    @Override
    public String name() {
        return "live-landing";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        try (PackageRegistry peer = PackageRegistry.start()) {
            for (int i = 0; i < RUNS; i++) {
                land(data, Workload.ALL.get(i % Workload.ALL.size()), peer);
            }
        }
        int asked = RUNS * MOMENTS;
        if (ratios.isEmpty()) {
            throw new IOException("no landing took place: " + notRight);
        }
        ratios.sort(null);
        return List.of(
                BenchResult.of(name(), (double) right / asked, "of landings")
                        .withGoal(new AtLeast(RIGHT_MIN))
                        .alone("a share of landings; all of them is the limit")
                        .withNote(
                                "%d runs × %d moments: %d right, %d of them under another name, which is said; %d refused with a reason, %d wrong%s"
                                        .formatted(
                                                RUNS,
                                                MOMENTS,
                                                right,
                                                otherNames,
                                                refused,
                                                asked - right - refused,
                                                notRight.isEmpty() ? "" : "; " + String.join(", ", notRight))),
                BenchResult.of("live-landing-first", ratios.getLast(), "times the run")
                        .withGoal(new AtMost(FIRST_MAX))
                        .alone("a ratio to the run itself")
                        .withNote("the slowest of %d; median %.2f, fastest %.2f"
                                .formatted(ratios.size(), ratios.get(ratios.size() / 2), ratios.getFirst())));
    }

    private void land(VmData data, Workload workload, PackageRegistry peer) throws IOException, InterruptedException {
        workload.record(data, "live", peer);
        JsonNode run = data.newestRun();
        String id = run.path("run").asText();
        Duration recorded = Duration.between(
                Instant.parse(run.path("startedAt").asText()),
                Instant.parse(run.path("endedAt").asText()));
        List<JsonNode> moments = moments(Launcher.output(data.command("events", id, "--json")));
        boolean first = true;
        for (JsonNode moment : moments) {
            String index = moment.path("index").asText();
            try (PausedReplay paused = PausedReplay.start(data.command("replay", id, "--to", index, "--json"))) {
                count(workload, moment, paused);
                if (first && paused.hasLanded()) {
                    ratios.add((double) paused.took().toMillis() / recorded.toMillis());
                    first = false;
                }
            }
        }
    }

    private void count(Workload workload, JsonNode moment, PausedReplay paused)
            throws IOException, InterruptedException {
        PausedReplay.At at = paused.at(moment);
        if (at != PausedReplay.At.ELSEWHERE) {
            right++;
            otherNames += at == PausedReplay.At.ITS_COUNTERPART ? 1 : 0;
            return;
        }
        boolean said = paused.refuses() || paused.saysThatItIsElsewhere();
        refused += said ? 1 : 0;
        notRight.add("%s %s %s %s"
                .formatted(
                        said ? "refused:" : "wrong:",
                        workload.name(),
                        moment.path("kind").asText(),
                        moment.path("path").asText()));
    }

    /// One of each fifth of what the agent did and what names a file or a program.
    private List<JsonNode> moments(String events) throws IOException {
        var acts = new ArrayList<JsonNode>();
        for (String line : events.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            boolean landable = event.path("actor").asText().equals("agent") && event.has("cpuSeq");
            if (landable && !PausedReplay.named(event).isEmpty()) {
                acts.add(event);
            }
        }
        if (acts.size() < MOMENTS) {
            throw new IOException("the run has " + acts.size() + " acts that name something");
        }
        var moments = new ArrayList<JsonNode>();
        for (int i = 0; i < MOMENTS; i++) {
            int from = acts.size() * i / MOMENTS;
            moments.add(acts.get(from + random.nextInt(acts.size() * (i + 1) / MOMENTS - from)));
        }
        return moments;
    }
}
