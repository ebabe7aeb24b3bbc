package blackbox.cli;

import blackbox.query.QueryException;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedBrief;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.TouchedJson;
import blackbox.query.answer.TouchedPart;
import blackbox.query.answer.TouchedText;
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
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox touched last                  on one screen: the most telling, and how much there is besides",
            "  blackbox touched last --all            everything",
            "  blackbox touched last --files --json   everything about files, for a program",
        })
final class TouchedCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--all", description = "Everything, not only the most telling.")
    private boolean all;

    @Option(names = "--files", description = "All files, and nothing but what is named.")
    private boolean files;

    @Option(names = "--processes", description = "All programs, and nothing but what is named.")
    private boolean processes;

    @Option(names = "--egress", description = "All network traffic, and nothing but what is named.")
    private boolean egress;

    @Option(names = "--privileges", description = "All uses of privileges, and nothing but what is named.")
    private boolean privileges;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = common.recordings();
        Touched touched = TouchedCollector.collect(recordings, run.resolve(recordings));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> TouchedJson.write(json, touched, parts()));
        } else if (all || !named().isEmpty()) {
            TouchedText.print(out, touched, parts());
            out.flush();
        } else {
            TouchedBrief.print(out, touched);
            out.flush();
        }
        return ExitCodes.OK;
    }

    private Set<TouchedPart> parts() {
        Set<TouchedPart> named = named();
        return named.isEmpty() ? EnumSet.allOf(TouchedPart.class) : named;
    }

    private Set<TouchedPart> named() {
        var parts = EnumSet.noneOf(TouchedPart.class);
        add(parts, files, TouchedPart.FILES);
        add(parts, processes, TouchedPart.PROCESSES);
        add(parts, egress, TouchedPart.EGRESS);
        add(parts, privileges, TouchedPart.PRIVILEGES);
        return parts;
    }

    private static void add(Set<TouchedPart> parts, boolean wanted, TouchedPart part) {
        if (wanted) {
            parts.add(part);
        }
    }
}
