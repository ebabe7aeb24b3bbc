package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Traffic;
import blackbox.node.alert.RuleFiles;
import blackbox.rules.RuleSet;
import blackbox.rules.match.RuleWatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// How many events one core shows to detection rules in a second: to those that Blackbox brings along, and with them to
/// SigmaHQ's for Linux where these are at hand (`../shared/rules/sigma-linux`). Beside that, how many rows it fills
/// without any rule: what `record` does in any case.
final class Rules implements Benchmark {
    private static final int EVENTS = 1 << 13;
    private static final Duration ROUND = Duration.ofMillis(Scale.CURRENT.count(2_000, 50));
    private static final int ROUNDS = Scale.CURRENT.rounds(5);
    private static final double GOAL_PER_SECOND = 100_000;
    private static final Path SIGMA = Path.of("../shared/rules/sigma-linux");
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    @Override
    public String name() {
        return "rules";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        var places = new ArrayList<>(List.of(RuleFiles.AGENTS));
        if (Files.isDirectory(SIGMA)) {
            for (String each : List.of("process_creation", "file_event", "network_connection")) {
                places.add(SIGMA.resolve(each).toString());
            }
        }
        RuleSet rules = RuleFiles.read(places).set();
        List<Event> mixed = new Traffic(1).events(EVENTS);
        List<Event> started = started();
        double all = 0;
        double onlyStarts = 0;
        double filled = 0;
        for (int round = 0; round < ROUNDS; round++) {
            all = Math.max(all, perSecond(mixed, rules));
            onlyStarts = Math.max(onlyStarts, perSecond(started, rules));
            filled = Math.max(filled, perSecond(mixed, RuleSet.NONE));
        }
        return List.of(BenchResult.of(name(), all, "events/s")
                .withGoal(new Goal.AtLeast(GOAL_PER_SECOND))
                .beside("the same events without rules", filled)
                .withNote(String.format(
                        Locale.ROOT,
                        "%d rules. If every event were the start of a program, about which most rules are: %,.0f/s.",
                        rules.rules().size(),
                        onlyStarts)));
    }

    /// Programs that an agent starts.
    private static List<Event> started() {
        var process = new ProcessRef(7, 7, 1, 7, Text.of("sh"), 1000);
        List<String> commands = List.of(
                "git -c user.name=a -c user.email=a@b.example commit -q -m first",
                "python3 -m pytest -q tests/test_app.py --maxfail=1",
                "make -j4 build/report.txt",
                "sed -i s/one/other/ src/app/module.py",
                "node /opt/npm/node_modules/agent/cli.js --print hello");
        return IntStream.range(0, EVENTS)
                .<Event>mapToObj(i -> {
                    List<Text> argv = Stream.of((commands.get(i % commands.size()) + " " + i).split(" "))
                            .map(Text::of)
                            .toList();
                    var header = new EventHeader(i, Source.GUEST, new GuestOrigin(0, i + 1L), process, Marks.NONE);
                    return new Event.ProcessExec(
                            header, Text.of("/usr/bin/" + argv.getFirst()), argv, List.of(), Text.of("/workspace"), 0);
                })
                .toList();
    }

    private static double perSecond(List<Event> events, RuleSet rules) {
        var watch = new RuleWatch(rules);
        var row = new Row();
        long start = CPU.getCurrentThreadCpuTime();
        long elapsed = 0;
        long index = 0;
        while (elapsed < ROUND.toNanos()) {
            for (Event event : events) {
                EventRows.fill(event, row);
                if (!rules.isEmpty()) {
                    watch.see(index, row);
                }
                index++;
            }
            elapsed = CPU.getCurrentThreadCpuTime() - start;
        }
        return index * 1e9 / elapsed;
    }
}
