package blackbox.cli;

import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.query.QueryException;
import blackbox.query.answer.ContainerCollector;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.TouchedJson;
import blackbox.query.answer.TouchedPart;
import blackbox.query.answer.TouchedText;
import blackbox.query.answer.Whose;
import blackbox.query.brief.BriefText;
import blackbox.query.brief.TouchedInBrief;
import blackbox.schemas.RunId;
import java.io.IOException;
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

/// `blackbox touched`.
@Command(
        name = "touched",
        description = {
            "Show what a run touched: files, programs, network, privileges; and what may not have been seen.",
            "",
            "Without options, what the agent did on one screen: what was refused, files with secrets and privileges first; then"
                    + " whom it talked to, and which files it changed (A added, M modified, D deleted, W written, but"
                    + " not known whether it existed before). Lists selected by options cover everyone, not only the"
                    + " agent."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox touched last                  what the agent did, on one screen",
            "  blackbox touched last --all            everything",
            "  blackbox touched last --files --json   everything about files, as JSON",
            "  blackbox touched last --calls          the calls of models and of MCP servers behind a gateway",
            "  blackbox touched last --by container   everything, for each container in the VM",
        })
final class TouchedCommand implements Callable<Integer> {

    /// By what the answer is divided.
    enum By {
        /// As it is written on the command line.
        container
    }

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(names = "--all", description = "Show everything, not only the most important.")
    private boolean all;

    @Option(
            names = "--supervisor",
            description = "Show only what the supervisor, which runs the agent in the guest, did.")
    private boolean supervisor;

    @Option(
            names = "--by",
            paramLabel = "container",
            description =
                    "Show everything for each container in the VM: whatever made it, a namespace of mounts of its own, or a"
                            + " root of its own (chroot).")
    private @Nullable By by;

    @Option(
            names = "--files",
            description = "Show all files and what was refused; sections without their option are left out.")
    private boolean files;

    @Option(names = "--processes", description = "Show all programs; sections without their option are left out.")
    private boolean processes;

    @Option(names = "--egress", description = "Show all network traffic; sections without their option are left out.")
    private boolean egress;

    @Option(
            names = "--privileges",
            description = "Show all uses of privileges; sections without their option are left out.")
    private boolean privileges;

    @Option(
            names = "--calls",
            description =
                    "Show all calls of models, with the tools that they asked for and their tokens, and of MCP servers;"
                            + " sections without their option are left out.")
    private boolean calls;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        PrintWriter out = spec.commandLine().getOut();
        if (by == By.container) {
            Whose whose = supervisor ? Whose.SUPERVISOR : Whose.ALL;
            var containers = ContainerCollector.collect(recordings, id, whose);
            if (common.json()) {
                JsonOut.document(out, json -> TouchedJson.write(json, containers, parts()));
            } else {
                TouchedText.print(out, containers, parts());
            }
        } else if (supervisor) {
            Touched touched = TouchedCollector.collect(recordings, id, Whose.SUPERVISOR);
            print(out, touched, json -> TouchedJson.write(json, touched, parts()));
        } else {
            TouchedInBrief touched = TouchedInBrief.collect(recordings, id);
            if (common.json() || all || !named().isEmpty()) {
                print(out, touched.touched(), json -> touched.write(json, parts()));
            } else {
                BriefText.lines(touched.brief()).forEach(out::println);
            }
        }
        out.flush();
        return ExitCodes.OK;
    }

    private void print(PrintWriter out, Touched touched, JsonOut.Body json) throws IOException {
        if (common.json()) {
            JsonOut.document(out, json);
        } else {
            TouchedText.print(out, touched, parts());
        }
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
        add(parts, calls, TouchedPart.CALLS);
        return parts;
    }

    private static void add(Set<TouchedPart> parts, boolean wanted, TouchedPart part) {
        if (wanted) {
            parts.add(part);
        }
    }
}
