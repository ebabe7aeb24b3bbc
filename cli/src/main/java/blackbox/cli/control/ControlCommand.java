package blackbox.cli.control;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.node.control.ControlAnswer;
import blackbox.node.control.ControlAnswer.Outcome;
import blackbox.node.control.ControlClient;
import blackbox.node.control.ControlRequest;
import blackbox.query.QueryException;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// What the three commands have in common.
abstract class ControlCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument argument;

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            required = true,
            description = "Why, in one line; it is sealed in the record.")
    private String reason = "";

    @Spec
    private CommandSpec spec;

    private final ControlRequest.Command command;

    ControlCommand(ControlRequest.Command command) {
        this.command = command;
    }

    /// What is said once it is done, of a run with this id.
    abstract String done(RunId run);

    @Override
    public Integer call() throws QueryException, IOException {
        RunId run = argument.resolve(common.recordings());
        ControlRequest request = request();
        ControlAnswer answer = ask(run, request);
        String why = answer.why();
        switch (answer.outcome()) {
            case REFUSED -> throw CommandException.badInput("run " + run + ": " + Printable.of(String.valueOf(why)));
            case FAILED ->
                throw CommandException.failed(
                        "run " + run + ": " + Printable.of(String.valueOf(why)) + "; if it must end, blackbox kill "
                                + run + " ends its VM",
                        null);
            case DONE, ALREADY -> print(run, answer);
        }
        return ExitCodes.OK;
    }

    private ControlRequest request() {
        if (reason.isBlank()) {
            throw CommandException.badInput("--reason must say why");
        }
        try {
            return new ControlRequest(command, reason.strip(), "cli", null);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--reason: " + e.getMessage());
        }
    }

    private ControlAnswer ask(RunId run, ControlRequest request) {
        try {
            ControlAnswer answer = ControlClient.ask(common.dataFolder(), run, request);
            if (answer == null) {
                throw CommandException.badInput("run " + run
                        + " is not being recorded by a process of this data folder, so there is nothing to "
                        + command.word());
            }
            return answer;
        } catch (IOException e) {
            throw CommandException.failed(
                    "the recorder of run " + run + " did not answer (" + e.getMessage() + "): it may have ended; see"
                            + " blackbox show " + run,
                    e);
        }
    }

    private void print(RunId run, ControlAnswer answer) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> answer.write(json, run, command));
            return;
        }
        if (answer.outcome() == Outcome.ALREADY) {
            out.println("run " + run + " is " + answer.machine() + " already; the record says that you asked");
        } else {
            out.println(String.format(Locale.ROOT, "%s after %.3f s", done(run), answer.tookNs() / 1e9));
        }
        String why = answer.why();
        if (why != null) {
            out.println("but " + Printable.of(why));
        }
        out.flush();
    }
}
