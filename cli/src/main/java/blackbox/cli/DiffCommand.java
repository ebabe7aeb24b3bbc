package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.ImportNotice;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.query.QueryException;
import blackbox.query.run.CountedRun;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunNames;
import blackbox.query.run.RunState;
import blackbox.replay.ReplayException;
import blackbox.replay.compare.AlignmentReport;
import blackbox.replay.compare.ComparedRuns;
import blackbox.replay.divergence.AlignmentSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox diff`.
@Command(
        name = "diff",
        description = "Show how two runs differ: the first event at which they diverge, and the input that explains it."
                + " Exit 0 only when they are equal except for what the named rules allow.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox diff nightly last", "  blackbox diff nightly last --context 10 --json"})
final class DiffCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Parameters(index = "0", paramLabel = "RUN", description = "The baseline run: id, prefix, name, or `last`.")
    private String recorded = "";

    @Parameters(index = "1", paramLabel = "RUN", description = "The run to compare with it.")
    private String actual = "";

    @Option(
            names = "--context",
            paramLabel = "N",
            description = "Events shown before and after the divergence, 0 to 100 (default: ${DEFAULT-VALUE}).")
    private int context = AlignmentSettings.CONTEXT_DEFAULT;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException, ReplayException {
        if (context < 0 || context > AlignmentSettings.CONTEXT_MAX) {
            throw CommandException.badInput(
                    "--context takes a number from 0 to " + AlignmentSettings.CONTEXT_MAX + ", not " + context);
        }
        var recordings = common.recordings();
        CountedRun one =
                CountedRun.read(recordings, ImportNotice.print(recordings, RunNames.resolve(recordings, recorded)));
        CountedRun other =
                CountedRun.read(recordings, ImportNotice.print(recordings, RunNames.resolve(recordings, actual)));
        ComparedRuns runs = ComparedRuns.of(
                recordings,
                one.facts(),
                other.facts(),
                new AlignmentSettings(context, new SecureRandom().nextLong(), false));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartObject();
                json.writeArrayFieldStart("runs");
                json.writeString(one.facts().run().value());
                json.writeString(other.facts().run().value());
                json.writeEndArray();
                json.writeArrayFieldStart("states");
                for (CountedRun each : List.of(one, other)) {
                    json.writeStartObject();
                    json.writeStringField("state", each.facts().state().name());
                    each.losses().writeFields(json);
                    json.writeEndObject();
                }
                json.writeEndArray();
                AlignmentReport.writeFields(json, runs);
                json.writeEndObject();
            });
        } else {
            out.println("runs          " + described(one));
            out.println("              " + described(other));
            AlignmentReport.print(
                    out, runs, one.facts().run().value(), other.facts().run().value());
            out.flush();
        }
        return runs.alignment().holds() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private static String described(CountedRun run) {
        RunFacts facts = run.facts();
        boolean whole = facts.state() == RunState.CLOSED && run.losses().areNone();
        return facts.run()
                + (facts.name() == null ? "" : "  " + Printable.of(facts.name()))
                + (whole
                        ? ""
                        : "  (not complete: " + facts.state() + ", "
                                + run.losses().inWords() + ")");
    }
}
