package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.text.Printable;
import blackbox.node.data.Shredding;
import blackbox.query.QueryException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox shred`.
@Command(
        name = "shred",
        description = "Destroy what a run saw and keep what it did: its payloads are gone for good, its events stay"
                + " verifiable.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox shred nightly --reason 'the customer asked for it'",
            "  blackbox verify nightly    # still VERIFIED",
            "",
            "Deletes the run's key, its captured files, its index for `replay --to`, and the workspace that came back."
                    + " There is no confirmation and no undo: the run cannot be replayed afterwards."
        })
final class ShredCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument argument;

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            required = true,
            description = "Why, in one line; kept in place of the payloads.")
    private String reason = "";

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        DataFolder data = common.ownDataFolder();
        RunId run = argument.resolveAlsoLost(common.recordings());
        Shredding.Outcome outcome = Shredding.shred(data, mark(run));
        return switch (outcome) {
            case Shredding.StillRecorded _ ->
                throw CommandException.badInput(
                        "run " + run + " is still being recorded; end it first, or wait for its end");
            case Shredding.BeingIndexed _ ->
                throw CommandException.badInput("nothing was shredded: another process is indexing run " + run
                        + " for `replay --to` or is landed in it, and stores what its memory held; wait for it, or end it"
                        + " (`serve --no-index` does not index)");
            case Shredding.Done done -> {
                print(done);
                yield ExitCodes.OK;
            }
        };
    }

    private ShredMark mark(RunId run) {
        try {
            return new ShredMark(run, Instant.now().truncatedTo(ChronoUnit.SECONDS), reason);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--reason: " + e.getMessage());
        }
    }

    private void print(Shredding.Done done) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        ShredMark mark = done.payloads().mark();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartObject();
                json.writeStringField("run", mark.run().value());
                json.writeStringField("at", mark.at().toString());
                json.writeStringField("reason", mark.reason());
                json.writeNumberField("files", done.payloads().files().size());
                json.writeNumberField("bytes", done.payloads().bytes());
                json.writeArrayFieldStart("folders");
                for (Path folder : done.folders()) {
                    json.writeString(folder.toString());
                }
                json.writeEndArray();
                json.writeArrayFieldStart("remains");
                for (String each : Shredding.REMAINS) {
                    json.writeString(each);
                }
                json.writeEndArray();
                json.writeEndObject();
            });
            return;
        }
        out.println("shredded   " + mark.run() + " at " + mark.at() + ": " + Printable.of(mark.reason()));
        out.println("deleted    the run's key, and " + done.payloads().files().size() + " captured files of "
                + done.payloads().bytes() + " bytes");
        done.folders().forEach(folder -> out.println("deleted    " + folder));
        Shredding.REMAINS.forEach(each -> out.println("remains    " + each));
        out.flush();
    }
}
