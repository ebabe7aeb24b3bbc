package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtLeast;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.RecordedAgent;
import blackbox.bench.subject.VmData;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/// The share of kills after which everything that was promised holds. A recording in a VM is interrupted, or one of its
/// parts killed (`kill -9`), at a seeded random moment, from its start to its close; then the next recording begins.
/// What was stated as recorded must be in the table once, every run must verify, no process may hang, and at the end
/// there may be no machine, socket, scratch file or unpublished batch left.
///
/// `-Dblackbox.bench.kills=` sets how many, `-Dblackbox.bench.seed=` repeats them. Broker, ingest and groups of them
/// are killed by `CrashTest` and `GroupCrashTest`, where no VM slows that down. The tracer cannot be killed from within
/// the guest, which `TracerOracleTest` shows.
final class Kills implements VmBenchmark {
    private static final int KILLS = Integer.getInteger("blackbox.bench.kills", Scale.CURRENT.count(60, 3));
    private static final long SEED = Long.getLong("blackbox.bench.seed", System.nanoTime() % 1_000_000_000);
    private static final int TIERS = 4;
    private static final int START_MILLIS = 5_000;
    private static final int WORK_MILLIS = 1_500;

    private final ObjectMapper json = new ObjectMapper();
    private final List<String> faults = new ArrayList<>();
    private final Map<Victim, Integer> killed = new EnumMap<>(Victim.class);
    private final List<Duration> exits = new ArrayList<>();
    /// The names of the runs whose agents had done something before the kill.
    private final Set<String> worked = new TreeSet<>();
    /// How many events each run has, as its recorder said when it had closed it.
    private final Map<String, Long> closed = new TreeMap<>();

    /// What is killed, and how.
    private enum Victim {
        RECORDER,
        CTRL_C,
        TERMINATED,
        MACHINE
    }

    @Override
    public String name() {
        return "kills";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared().withImageOnly();
        try {
            return List.of(kill(data));
        } finally {
            Folders.delete(data.folder());
        }
    }

    private BenchResult kill(VmData data) throws IOException, InterruptedException {
        var random = new Random(SEED);
        int bad = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            int before = faults.size();
            killOne(data, random, kill);
            bad += faults.size() > before ? 1 : 0;
            System.err.println("bench: kills: " + (kill + 1) + " of " + KILLS + " so far, " + bad + " with faults");
        }
        int before = faults.size();
        checkAll(data);
        bad += faults.size() - before;
        faults.forEach(fault -> System.err.println("bench: kills: " + fault));
        exits.sort(null);
        return BenchResult.of(name(), 1.0 - (double) Math.min(bad, KILLS) / KILLS, "of kills")
                .withGoal(new AtLeast(1))
                .alone("a share of kills; all of them is the limit")
                .withNote("seed %d, %d kills: %s; %d closed runs; an interrupted recording exits within %s%s"
                        .formatted(
                                SEED,
                                KILLS,
                                killed,
                                closed.size(),
                                exits.isEmpty() ? "-" : exits.getLast(),
                                faults.isEmpty() ? "" : "; faults: " + faults));
    }

    private void killOne(VmData data, Random random, int number) throws IOException, InterruptedException {
        Victim victim = Victim.values()[random.nextInt(Victim.values().length)];
        killed.merge(victim, 1, Integer::sum);
        String name = "kill-" + number;
        String tier = random.nextInt(TIERS) == 0 ? "exact" : "live";
        String label = name + " (" + victim + ", " + tier + "): ";
        try (var agent = RecordedAgent.start(data, name, tier)) {
            // A third of them while the machine starts.
            boolean working = random.nextInt(3) != 0;
            if (working) {
                agent.awaitWork();
            }
            if (agent.awaitEnd(Duration.ofMillis(random.nextInt(working ? WORK_MILLIS : START_MILLIS)))) {
                faults.add(label + "it ended by itself: " + agent.errors());
                return;
            }
            long from = System.nanoTime();
            switch (victim) {
                case RECORDER -> agent.killRecorder();
                case CTRL_C -> agent.signal("INT");
                case TERMINATED -> agent.signal("TERM");
                case MACHINE -> agent.killMachine();
            }
            if (!agent.awaitEnd(RecordedAgent.PATIENCE)) {
                faults.add(label + "the recording does not end");
            }
            if (victim == Victim.CTRL_C || victim == Victim.TERMINATED) {
                exits.add(Duration.ofNanos(System.nanoTime() - from));
            }
            JsonNode recorded = agent.recorded();
            if (recorded != null) {
                closed.put(
                        recorded.path("run").asText(), recorded.path("events").asLong());
            } else if (victim != Victim.RECORDER && working) {
                faults.add(label + "the run was not closed: " + agent.errors());
            }
            if (working) {
                worked.add(name);
            }
        }
    }

    private void checkAll(VmData data) throws IOException, InterruptedException {
        // The next recording finishes what was left, and clears it away.
        Duration unused = Launcher.time(data.command("record", "--", "true"));
        JsonNode runs = json.readTree(Launcher.output(data.command("runs", "--json")));
        var known = new TreeMap<String, Long>();
        for (JsonNode run : runs) {
            String id = run.path("run").asText();
            JsonNode verified = json.readTree(Launcher.output(data.command("verify", id, "--json")));
            long events = verified.path("events").asLong();
            known.put(id, events);
            // Of a recorder that was killed before its first batch, there is nothing to verify.
            if (!verified.path("integrity").asText().equals("VERIFIED") && events > 0) {
                faults.add("run " + id + ": " + verified);
            }
            if (worked.remove(run.path("name").asText()) && events == 0) {
                faults.add("run " + id + " has no events, and its agent had worked");
            }
        }
        worked.forEach(name -> faults.add("run " + name + " is not listed, and its agent had worked"));
        closed.forEach((run, events) -> {
            if (!events.equals(known.get(run))) {
                faults.add("run " + run + " was closed with " + events + " events and has " + known.get(run));
            }
        });
        checkRows(data);
        var folder = new DataFolder(data.folder());
        for (Path place : List.of(folder.machines(), folder.spool(), folder.scratch())) {
            try (Stream<Path> left = Files.exists(place) ? Files.list(place) : Stream.of()) {
                left.forEach(each -> faults.add("left behind: " + each));
            }
        }
        ProcessHandle.allProcesses()
                .filter(each -> worksIn(each, data.folder()))
                .forEach(each ->
                        faults.add("still running: " + each.info().commandLine().orElse("")));
    }

    /// Whether it has a file open there, or stands in a folder there. Its arguments do not show that.
    private static boolean worksIn(ProcessHandle process, Path folder) {
        Path about = Path.of("/proc", Long.toString(process.pid()));
        try (Stream<Path> open = Files.list(about.resolve("fd"))) {
            Path place = folder.toRealPath();
            return Stream.concat(Stream.of(about.resolve("cwd")), open).anyMatch(each -> isWithin(place, each));
        } catch (IOException | UncheckedIOException e) {
            return false; // it has ended, or is another user's
        }
    }

    private static boolean isWithin(Path folder, Path link) {
        try {
            return Files.readSymbolicLink(link).startsWith(folder);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private void checkRows(VmData data) throws IOException, InterruptedException {
        String sql = "SELECT run FROM events GROUP BY run HAVING count(*) <> count(DISTINCT \"index\")"
                + " OR count(*) <> max(\"index\") + 1";
        JsonNode wrong = json.readTree(Launcher.output(data.command("query", "--json", sql)));
        if (!wrong.isArray() || !wrong.isEmpty()) {
            faults.add("rows are missing or there twice: " + wrong);
        }
    }
}
