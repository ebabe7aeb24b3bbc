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
        description = "Show what a run touched: files, programs, network, privileges; and what may not have been seen.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox touched last                  the most important on one screen, and how much more there is",
            "  blackbox touched last --all            everything",
            "  blackbox touched last --files --json   everything about files, as JSON",
        })
final class TouchedCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--all", description = "Show everything, not only the most important.")
    private boolean all;

    @Option(names = "--files", description = "Show all files; sections without their option are left out.")
    private boolean files;

    @Option(names = "--processes", description = "Show all programs; sections without their option are left out.")
    private boolean processes;

    @Option(names = "--egress", description = "Show all network traffic; sections without their option are left out.")
    private boolean egress;

    @Option(
            names = "--privileges",
            description = "Show all uses of privileges; sections without their option are left out.")
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
