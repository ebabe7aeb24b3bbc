package blackbox.cli;

import blackbox.query.QueryException;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.TouchedJson;
import blackbox.query.answer.TouchedPart;
import blackbox.query.answer.TouchedText;
import blackbox.query.store.Recordings;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox touched`.
@Command(
        name = "touched",
        description = "What a run touched: files, programs, network, privileges; and what may not have been seen.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox touched last --files --json")
final class TouchedCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--files", description = "Only files, and what else is named.")
    private boolean files;

    @Option(names = "--processes", description = "Only programs, and what else is named.")
    private boolean processes;

    @Option(names = "--egress", description = "Only network traffic, and what else is named.")
    private boolean egress;

    @Option(names = "--privileges", description = "Only uses of privileges, and what else is named.")
    private boolean privileges;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = new Recordings(common.dataFolder().root());
        Touched touched = TouchedCollector.collect(recordings, run.resolve(recordings));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> TouchedJson.write(json, touched, parts()));
        } else {
            TouchedText.print(out, touched, parts());
            out.flush();
        }
        return ExitCodes.OK;
    }

    private Set<TouchedPart> parts() {
        var parts = EnumSet.noneOf(TouchedPart.class);
        add(parts, files, TouchedPart.FILES);
        add(parts, processes, TouchedPart.PROCESSES);
        add(parts, egress, TouchedPart.EGRESS);
        add(parts, privileges, TouchedPart.PRIVILEGES);
        return parts.isEmpty() ? EnumSet.allOf(TouchedPart.class) : parts;
    }

    private static void add(Set<TouchedPart> parts, boolean wanted, TouchedPart part) {
        if (wanted) {
            parts.add(part);
        }
    }
}
