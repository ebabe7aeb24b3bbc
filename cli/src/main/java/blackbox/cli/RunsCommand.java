package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import blackbox.query.answer.RunJson;
import blackbox.query.run.CountedRun;
import blackbox.query.run.RunFacts;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox runs`.
@Command(
        name = "runs",
        description = "List the recordings, oldest first.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox runs --json")
final class RunsCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Option(names = "--access", description = "List the records of who asked `serve` what, too.")
    private boolean access;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        var recordings = common.recordings();
        List<CountedRun> runs = access ? CountedRun.withServices(recordings) : CountedRun.all(recordings);
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartArray();
                for (CountedRun run : runs) {
                    RunJson.write(json, run);
                }
                json.writeEndArray();
            });
            return ExitCodes.OK;
        }
        for (CountedRun run : runs) {
            out.println(line(run));
        }
        out.flush();
        return ExitCodes.OK;
    }

    private static String line(CountedRun run) {
        RunFacts facts = run.facts();
        RunFacts.Start start = facts.start();
        String name = facts.name();
        String none = facts.ofNoEvents();
        return "%s  %s  %-9s %9d events  %s  %s%s"
                .formatted(
                        facts.run(),
                        start == null
                                ? "-".repeat(20)
                                : Timestamps.format(start.atNs()).substring(0, 19) + "Z",
                        facts.state(),
                        facts.events(),
                        run.losses().inWords(),
                        name == null ? "" : Printable.of(name),
                        (facts.service() == null ? "" : "  (who asked `serve` what)")
                                + origin(facts.imported())
                                + (none == null ? "" : "  (" + none + ")")
                                + (facts.fault() == null ? "" : "  (cannot be read to its end: " + facts.fault() + ")")
                                + (facts.leftOut().isEmpty()
                                        ? ""
                                        : "  (left out: "
                                                + Printable.of(facts.leftOut().toString()) + ")"));
    }

    private static String origin(RunFacts.@Nullable Imported imported) {
        if (imported == null) {
            return "";
        }
        return imported.trusted() ? "  (imported)" : "  (imported, UNTRUSTED)";
    }
}
