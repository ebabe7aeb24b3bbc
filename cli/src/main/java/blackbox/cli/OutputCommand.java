package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.MomentConverter;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.query.QueryException;
import blackbox.query.run.RunState;
import blackbox.recorder.capture.OutputPiece;
import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.Moment;
import blackbox.replay.ReplayException;
import blackbox.replay.output.OutputJson;
import blackbox.replay.output.OutputLimit;
import blackbox.replay.output.OutputLines;
import blackbox.replay.output.OutputReader;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox output`. Exit 1 when what was asked for is not all there.
@Command(
        name = "output",
        description = "Print exactly what a run's command printed.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox output last                     its standard output; that of a terminal is all that it showed",
            "  blackbox output last --stderr            its standard error alone",
            "  blackbox output last --stdout --stderr   both, in the order in which they were received",
            "  blackbox output last --at 02:13:07       what had been printed by then",
            "  blackbox output last --follow            while the run is recorded, until it ends",
            "  blackbox output last --json              when each piece was received; octets that are no text as base64",
            "",
            "Standard output gets the octets and nothing else; without --json they may contain a terminal's control sequences.",
            "They are checked against the events that seal them. Exit 1: they are not all there, because `record --output-max`",
            "cut them, or what came last was not sealed, or none were kept; standard error says which, with --json the last object."
        })
final class OutputCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--stdout", description = "Standard output (default, unless --stderr is given).")
    private boolean stdout;

    @Option(names = "--stderr", description = "Standard error; with --stdout, both.")
    private boolean stderr;

    @Option(
            names = "--follow",
            description =
                    "Keep printing while the run is being recorded; what is printed there takes about a second to be"
                            + " sealed and shown.")
    private boolean follow;

    @Option(
            names = "--at",
            paramLabel = "INDEX|TIME",
            converter = MomentConverter.class,
            description =
                    "Only what the host had received by then: at an event's index, an RFC 3339 time, or HH:MM:SS of"
                            + " the run's day (UTC).")
    @Nullable
    private Moment at;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException, ReplayException, InterruptedException {
        if (follow && at != null) {
            throw CommandException.badInput("--follow prints what is still to come, and --at what came before a moment;"
                    + " leave out one of them");
        }
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        var reader = new OutputReader(recordings, id, wanted());
        OutputReader.Answer answer;
        if (common.json()) {
            PrintWriter out = spec.commandLine().getOut();
            JsonGenerator json = JsonOut.lines(out);
            answer = give(reader, new OutputLines(json, () -> {
                if (out.checkError()) {
                    throw new IOException("standard output was closed");
                }
            }));
            OutputJson.end(json, id, answer);
            json.flush();
            out.println();
            out.flush();
        } else {
            answer = give(reader, new Octets(System.out));
            System.out.flush();
        }
        answer.limits().stream().map(OutputLimit::text).forEach(this::say);
        if (answer.state() == RunState.OPEN && !follow) {
            say("run " + id + " is still being recorded; --follow prints what comes");
        }
        return answer.limits().isEmpty() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private Set<PrintedStream> wanted() {
        if (!stderr) {
            return EnumSet.of(PrintedStream.STDOUT);
        }
        return stdout ? EnumSet.allOf(PrintedStream.class) : EnumSet.of(PrintedStream.STDERR);
    }

    private OutputReader.Answer give(OutputReader reader, OutputReader.Sink sink)
            throws IOException, ReplayException, InterruptedException {
        return follow ? reader.follow(sink) : reader.read(at, sink);
    }

    private void say(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("blackbox: " + line);
        err.flush();
    }

    /// The octets as they are.
    private record Octets(PrintStream out) implements OutputReader.Sink {
        @Override
        public void piece(OutputPiece piece) throws IOException {
            piece.writeTo(out);
            if (out.checkError()) {
                throw new IOException("standard output was closed");
            }
        }

        @Override
        public void idle() {
            out.flush();
        }
    }
}
