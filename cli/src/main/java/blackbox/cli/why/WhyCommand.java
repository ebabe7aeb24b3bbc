package blackbox.cli.why;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.LeftOutNotice;
import blackbox.query.QueryException;
import blackbox.query.why.Why;
import blackbox.query.why.WhyCollector;
import blackbox.query.why.WhyCollector.Depth;
import blackbox.query.why.WhyJson;
import blackbox.query.why.WhyText;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `blackbox why`.
@Command(
        name = "why",
        description = {
            "Show what an event follows from: its process, the tool that a model asked for, and the model's answer.",
            "",
            "The grade says how much speaks for it. A: what was asked for, word for word, by the runtime that asked, and"
                    + " nothing else fits. B: the same, but something is open. C: a process of that runtime, while the"
                    + " tool was being used. D: at that time, and nothing more. X: tied to nothing. A program chooses"
                    + " its own arguments, so even an A only says that all is consistent with it."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox events last --kind file.io         finds an event's index",
            "  blackbox why last 4711                      what it follows from",
            "  blackbox why last 4711 --all                back to the first call of the model",
            "  blackbox prove last 4711 --out event.json   proves a step of it"
        })
public final class WhyCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Parameters(index = "1", paramLabel = "INDEX", description = "The event's index in the run, from 0.")
    private long index;

    @Option(names = "--all", description = "Go back through the results of tools to the first call of the model.")
    private boolean all;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        Why why = WhyCollector.collect(recordings, id, index, all ? Depth.ALL_CALLS : Depth.ONE_CALL);
        LeftOutNotice.print(spec.commandLine().getErr(), recordings.leftOut(id));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> WhyJson.write(json, why));
        } else {
            WhyText.print(out, why);
        }
        out.flush();
        return ExitCodes.OK;
    }
}
