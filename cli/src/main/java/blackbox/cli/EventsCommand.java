package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.cli.output.LeftOutNotice;
import blackbox.evidence.text.Printable;
import blackbox.query.QueryException;
import blackbox.query.answer.EventFilter;
import blackbox.query.answer.EventJson;
import blackbox.query.answer.EventLine;
import blackbox.query.answer.EventStream;
import blackbox.query.answer.Events;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox events`.
@Command(
        name = "events",
        description = "List a run's events, in order.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox events last --kind process.exec --kind net",
            "  blackbox events last --actor agent --kind file",
            "  blackbox events last --follow --json"
        })
final class EventsCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--follow", description = "Print new events as they come, until the run's close.")
    private boolean follow;

    @Option(
            names = "--kind",
            paramLabel = "K",
            split = ",",
            description = "Show only events of this kind (`file.open`) or family (`file`); may be repeated.")
    private List<String> kinds = new ArrayList<>();

    @Option(
            names = "--actor",
            paramLabel = "A",
            description = "Show only what this actor did: agent, supervisor (which runs the agent) or host.")
    @Nullable
    private String actor;

    @Option(names = "--from", paramLabel = "T", description = "Only events at or after this time (RFC 3339).")
    @Nullable
    private String from;

    @Option(names = "--to", paramLabel = "T", description = "Only events before this time (RFC 3339).")
    @Nullable
    private String to;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException, InterruptedException {
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        EventFilter filter = EventFilter.of(kinds, from, to).by(actor);
        EventStream events =
                follow ? EventStream.following(recordings, id, filter, 0) : EventStream.of(recordings, id, filter, 0);
        LeftOutNotice.print(spec.commandLine().getErr(), recordings.leftOut(id));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonGenerator json = JsonOut.lines(out);
            give(events, (index, row) -> EventJson.write(json, index, row), json::flush, out);
            json.flush();
            out.println();
        } else {
            give(events, (index, row) -> out.println(Printable.of(EventLine.format(index, row))), out::flush, out);
        }
        out.flush();
        if (follow && !events.isOver()) {
            spec.commandLine()
                    .getErr()
                    .println(
                            "blackbox: the run's close has not come: its recorder is gone, and nothing more has come for "
                                    + EventStream.PATIENCE.toSeconds() + " s; ask again later, or see 'blackbox show "
                                    + id
                                    + "' for what is known of its end");
        }
        return ExitCodes.OK;
    }

    private static void give(EventStream events, Events.Sink sink, Events.Idle flush, PrintWriter out)
            throws IOException, InterruptedException {
        Events.Sink checked = (index, row) -> {
            sink.accept(index, row);
            if (index % 1_000 == 0 && out.checkError()) {
                throw new IOException("standard output was closed");
            }
        };
        Events.give(events, checked, flush);
    }
}
