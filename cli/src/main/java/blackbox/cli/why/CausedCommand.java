package blackbox.cli.why;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.LeftOutNotice;
import blackbox.query.QueryException;
import blackbox.query.why.Caused;
import blackbox.query.why.CausedCollector;
import blackbox.query.why.CausedJson;
import blackbox.query.why.CausedText;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox caused`.
@Command(
        name = "caused",
        description = {
            "Show what followed from a model's answer: programs, files, network and privileges of the tools it asked for.",
            "",
            "Each line has a grade, as `blackbox why --help` explains them. A tool that has a result but from which"
                    + " nothing followed has X, as have programs that the runtime started while no tool was being"
                    + " used."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox touched last --calls         lists the calls and their tools",
            "  blackbox caused last 4700             what followed from that call, or from that tool",
            "  blackbox caused last toolu_01A --json what followed from the tool use with that id, as JSON"
        })
public final class CausedCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Parameters(
            index = "1",
            paramLabel = "CALL",
            description = "The index of an event llm.call or llm.tool, or the id of a tool use.")
    private String call;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        Caused caused = CausedCollector.collect(recordings, id, call);
        LeftOutNotice.print(spec.commandLine().getErr(), recordings.leftOut(id));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> CausedJson.write(json, caused));
        } else {
            CausedText.print(out, caused);
        }
        out.flush();
        return ExitCodes.OK;
    }
}
