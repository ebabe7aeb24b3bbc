package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Flood;
import blackbox.bench.subject.FloodedRun;
import blackbox.bench.subject.HostileGuest;
import blackbox.bench.subject.VmData;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/// What floods of a guest that its agent has taken over cost its recorder: one at a time, each of the program
/// in `floods.py`. A flood whose run is not closed, or of which the record says what is not so, fails the
/// benchmark.
///
/// `-Dblackbox.bench.seconds` ends each flood after so many seconds; otherwise it is a minute, or as long as
/// it takes to make 100,000 connections, a million packets, a million files.
/// `-Dblackbox.bench.floods=names,blocks` chooses.
final class Floods implements VmBenchmark {
    /// What the recorder may have of its host's memory.
    static final long MEMORY_MIB_MAX = 1024;

    /// How long after its flood a run may take to be closed.
    static final Duration CLOSED_MAX = Duration.ofMinutes(3);

    private static final int SECONDS = Integer.getInteger("blackbox.bench.seconds", 0);
    private static final int SECONDS_WHOLE = 60;
    private static final int SECONDS_SMALLEST = 2;
    private static final String CHOSEN = System.getProperty("blackbox.bench.floods", "");

    @Override
    public String name() {
        return "floods";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        var results = new ArrayList<BenchResult>();
        var wrong = new ArrayList<String>();
        try (HostileGuest guest = HostileGuest.of(VmData.shared())) {
            System.out.print(FloodedRun.head());
            for (Flood flood : chosen()) {
                FloodedRun run = FloodedRun.record(guest, flood, seconds(flood));
                System.out.print(run.line());
                results.add(result(run));
                String what = run.wrong(Long.MAX_VALUE, CLOSED_MAX);
                if (what != null) {
                    wrong.add(flood.title() + ": " + what);
                }
            }
        }
        if (!wrong.isEmpty()) {
            throw new IOException(String.join("; ", wrong));
        }
        return results;
    }

    private static List<Flood> chosen() {
        if (CHOSEN.isEmpty()) {
            return Flood.ALL;
        }
        var names = new HashSet<>(List.of(CHOSEN.split(",")));
        List<Flood> chosen =
                Flood.ALL.stream().filter(flood -> names.contains(flood.name())).toList();
        chosen.forEach(flood -> names.remove(flood.name()));
        if (!names.isEmpty()) {
            throw new IllegalArgumentException("there is no flood " + String.join(", ", names));
        }
        return chosen;
    }

    private static int seconds(Flood flood) {
        if (SECONDS > 0) {
            return SECONDS;
        }
        return Scale.CURRENT.count(flood.count() > 0 ? 0 : SECONDS_WHOLE, SECONDS_SMALLEST);
    }

    private static BenchResult result(FloodedRun run) {
        String name = "flood-" + run.flood().title().replaceAll("[^a-z]+", "-").replaceAll("-$", "");
        return BenchResult.of(name, (double) run.recorderMib(), "MiB")
                .withGoal(new Goal.AtMost(MEMORY_MIB_MAX))
                .alone("the limit is what a recorder may have of its host")
                .withNote("%s: sent %d %s, sealed %d events, lost %d, closed after %d ms, verify: %s"
                        .formatted(
                                run.flood().title(),
                                run.sent(),
                                run.unit(),
                                run.events(),
                                run.lost(),
                                run.closed().toMillis(),
                                run.completeness()));
    }
}
