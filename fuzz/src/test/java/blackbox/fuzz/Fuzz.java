package blackbox.fuzz;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What `make fuzz` runs: Jazzer, for each target in a JVM of its own, and then a table.
///
/// Exit 0 when nothing was found, 1 when something was, 2 for an unknown target, 3 when Jazzer could not run.
final class Fuzz {
    /// Of heap, including Jazzer's own.
    private static final String HEAP = "-Xmx512m";

    private static final int INPUT_SECONDS_MAX = 5;
    private static final Pattern PROGRESS = Pattern.compile("^#(\\d+)\\s+\\w+.*\\bcov: (\\d+).*\\bcorp: (\\d+)/.*");
    private static final Pattern EXECUTED = Pattern.compile("^stat::number_of_executed_units:\\s*(\\d+)");

    private static final Pattern WRITTEN = Pattern.compile("Test unit written to (.+)$");

    private final Path module;
    private final Path work;
    private final long seconds;

    /// What Jazzer says in the end.
    ///
    /// @param coverage edges of the code under test that were taken
    /// @param kept inputs in the corpus, each of which took an edge that no other had
    /// @param findings files with inputs
    record Told(long executions, long coverage, long kept, Set<Path> findings) {}

    /// What came of one target.
    ///
    /// @param failed whether Jazzer ended without having run
    record Result(String target, Told told, boolean failed) {}

    /// @param module this module's folder
    /// @param work the folder for what outlives a run: `corpus/`, `findings/` and `logs/`, by target
    /// @param seconds for each target
    Fuzz(Path module, Path work, long seconds) {
        this.module = module;
        this.work = work;
        this.seconds = seconds;
    }

    /// Arguments: seconds for each target, the folder for corpus and findings, then names of targets; none means all.
    public static void main(String[] arguments) throws Exception {
        Fuzz fuzz;
        List<FuzzTarget> targets;
        try {
            fuzz = new Fuzz(Path.of("fuzz"), Path.of(arguments[1]), seconds(arguments[0]));
            List<String> names = List.of(arguments).subList(2, arguments.length);
            targets = names.isEmpty()
                    ? FuzzTargets.all()
                    : names.stream().map(FuzzTargets::named).toList();
        } catch (IllegalArgumentException e) {
            System.err.println("fuzz: " + e.getMessage());
            System.exit(2);
            return;
        }
        var results = new ArrayList<Result>();
        for (FuzzTarget target : targets) {
            System.err.println("fuzz: " + target.name());
            results.add(fuzz.run(target));
        }
        System.out.print(table(results));
        boolean failed = results.stream().anyMatch(Result::failed);
        boolean found =
                results.stream().anyMatch(result -> !result.told().findings().isEmpty());
        if (found) {
            System.err.println("fuzz: mend the parser, and keep each input, named by what it shows, in "
                    + Inputs.folder(fuzz.module) + "/TARGET/");
        }
        System.exit(failed ? 3 : found ? 1 : 0);
    }

    private static long seconds(String text) {
        if (!text.matches("[1-9][0-9]{0,6}")) {
            throw new IllegalArgumentException("TIME is a number of seconds for each target, not '" + text + "'");
        }
        return Long.parseLong(text);
    }

    static String table(List<Result> results) {
        var table = new StringBuilder();
        table.append("%-18s %12s %9s %7s  %s%n".formatted("target", "executions", "coverage", "corpus", "findings"));
        for (Result result : results) {
            Told told = result.told();
            String outcome =
                    result.failed() ? "Jazzer did not run" : told.findings().isEmpty() ? "none" : "";
            table.append("%-18s %,12d %,9d %,7d  %s%n"
                    .formatted(result.target(), told.executions(), told.coverage(), told.kept(), outcome));
            told.findings().forEach(file -> table.append("    ").append(file).append(System.lineSeparator()));
        }
        return table.toString();
    }

    Result run(FuzzTarget target) throws Exception {
        Path corpus = Files.createDirectories(work.resolve("corpus").resolve(target.name()));
        Path findings = Files.createDirectories(work.resolve("findings").resolve(target.name()));
        Path logs = Files.createDirectories(work.resolve("logs"));
        Path seeds = seeds(target);
        Process jazzer = new ProcessBuilder(command(target, corpus, findings, seeds))
                .redirectErrorStream(true)
                .start();
        jazzer.getOutputStream().close();
        Told told = read(jazzer, logs.resolve(target.name()));
        int exit = jazzer.waitFor();
        boolean failed = told.findings().isEmpty() && (exit != 0 || told.executions() == 0);
        return new Result(target.name(), told, failed);
    }

    private List<String> command(FuzzTarget target, Path corpus, Path findings, Path seeds) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                HEAP,
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + FuzzEntry.class.getName(),
                "--target_args=" + target.name(),
                "--instrumentation_includes=blackbox.**",
                "--instrumentation_excludes=blackbox.fuzz.*",
                "--reproducer_path=" + work.resolve("logs"),
                "-artifact_prefix=" + findings + "/",
                "-max_total_time=" + seconds,
                "-max_len=" + target.inputBytesMax(),
                "-timeout=" + INPUT_SECONDS_MAX,
                "-print_final_stats=1",
                corpus.toString(),
                seeds.toString());
    }

    /// Seeds, and what once broke the target.
    private Path seeds(FuzzTarget target) throws Exception {
        Path seeds = Files.createDirectories(work.resolve("seeds").resolve(target.name()));
        for (Map.Entry<String, byte[]> seed : target.seeds().make().entrySet()) {
            Files.write(seeds.resolve("seed-" + seed.getKey()), seed.getValue());
        }
        for (Map.Entry<String, byte[]> input : Inputs.of(module, target.name()).entrySet()) {
            Files.write(seeds.resolve("input-" + input.getKey()), input.getValue());
        }
        return seeds;
    }

    private static Told read(Process jazzer, Path log) throws IOException {
        long executions = 0;
        long coverage = 0;
        long kept = 0;
        Set<Path> findings = new TreeSet<>();
        boolean tells = false;
        try (var lines = new BufferedReader(
                        new InputStreamReader(jazzer.getInputStream(), StandardCharsets.ISO_8859_1));
                var out = Files.newBufferedWriter(log, StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                out.write(line);
                out.newLine();
                Matcher progress = PROGRESS.matcher(line);
                Matcher executed = EXECUTED.matcher(line);
                if (progress.matches()) {
                    executions = Long.parseLong(progress.group(1));
                    coverage = Long.parseLong(progress.group(2));
                    kept = Long.parseLong(progress.group(3));
                } else if (executed.find()) {
                    executions = Long.parseLong(executed.group(1));
                }
                Matcher written = WRITTEN.matcher(line);
                if (written.find()) {
                    findings.add(Path.of(written.group(1)));
                }
                tells |= line.startsWith("==");
                if (tells) {
                    System.err.println(line);
                }
            }
        }
        return new Told(executions, coverage, kept, findings);
    }
}
