package blackbox.bench;

import blackbox.bench.result.BenchReport;
import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Machine;
import blackbox.bench.subject.Launcher;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Runs the suite, or the benchmarks named on the command line, one after the other.
///
/// `-Dblackbox.bench.scale=smallest` does just enough of each to show that it can measure.
///
/// Exit 0 when all of them could measure (a missed goal is a result, not a failure), 2 for an unknown name, 3
/// when one could not.
final class Bench {
    static final List<Benchmark> SUITE = List.of(
            new Seal(),
            new Rules(),
            new Pipeline(),
            new Travel(),
            new StoredBytes(),
            new Verify(),
            new Prove(),
            new VerifierStart(),
            new HelpTime(),
            new Answers(),
            new ServeReady(),
            new Alignment(),
            new GuestSlowdown(),
            new GatewayThroughput(),
            new GuestThroughput(),
            new BlockLog(),
            new Rerun(),
            new ExactTier(),
            new ReplayAgreement("exact"),
            new ReplayAgreement("live"),
            new LiveLanding(),
            new Seek(),
            new FirstInstruction(FirstInstruction.Start.WARM),
            new FirstInstruction(FirstInstruction.Start.COLD),
            new Kills(),
            new Floods());

    private Bench() {}

    public static void main(String[] names) throws IOException {
        if (!Files.isExecutable(Launcher.PATH)) {
            System.err.println("bench: run this from the project's root, after make build");
            System.exit(2);
        }
        Set<String> known = SUITE.stream().map(Benchmark::name).collect(Collectors.toSet());
        for (String name : names) {
            if (!known.contains(name)) {
                System.err.println("bench: there is no benchmark " + name + "; choose from " + known);
                System.exit(2);
            }
        }
        System.exit(run(names.length == 0 ? known : Set.of(names)) ? 0 : 3);
    }

    private static boolean run(Set<String> chosen) throws IOException {
        BenchReport report = BenchReport.open(Scale.CURRENT.results());
        boolean allMeasured = true;
        for (Benchmark benchmark : SUITE) {
            if (chosen.contains(benchmark.name())) {
                allMeasured &= run(benchmark, report);
            }
        }
        return allMeasured;
    }

    private static boolean run(Benchmark benchmark, BenchReport report) throws IOException {
        Machine machine = Machine.now();
        List<BenchResult> results;
        try {
            String missing = benchmark.missing();
            if (missing != null) {
                System.err.println("bench: " + benchmark.name() + " cannot be measured here: " + missing);
                return false;
            }
            results = benchmark.run();
        } catch (Exception e) {
            System.err.println("bench: " + benchmark.name() + " could not measure");
            e.printStackTrace();
            return false;
        }
        for (BenchResult result : results) {
            report.add(result, machine);
            System.out.println(result.line());
        }
        return true;
    }
}
