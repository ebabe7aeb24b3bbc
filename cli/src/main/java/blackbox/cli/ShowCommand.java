package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.node.data.LocalTrust;
import blackbox.node.verdict.ReplayReport;
import blackbox.node.verdict.VerdictList;
import blackbox.query.QueryException;
import blackbox.query.answer.RunSummary;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.request.Difference;
import blackbox.replay.verdict.DifferingOctets;
import blackbox.replay.verdict.LoggedVerdict;
import blackbox.replay.verdict.VerdictStore;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox show`.
@Command(
        name = "show",
        description =
                "Summarize one run: what ran, on which image, what was counted and lost, and whether it verifies.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox show last", "  blackbox show last --missed"})
final class ShowCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(
            names = "--missed",
            description = "Show the octets in which a request of the newest replay that missed one differs from the"
                    + " recorded one; they may hold passwords.")
    private boolean missed;

    @Option(
            names = "--printed",
            description = "Show the octets in which the output of the newest replay that printed something else differs"
                    + " from the recorded one; they may hold passwords.")
    private boolean printed;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        DataFolder folder = common.dataFolder();
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        if (missed || printed) {
            return octets(folder, id, missed ? DifferingOctets.REQUEST : DifferingOctets.OUTPUT);
        }
        RunSummary summary = RunSummary.read(recordings, id);
        Verification verification = RunOrigin.verify(
                recordings, id, new LocalTrust(folder).trustedKeys(), null, new LocalTrust(folder).anchorTrust());
        List<LoggedVerdict> replays = VerdictList.read(recordings, id, new LocalTrust(folder).trustedKeys());
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartObject();
                summary.writeFields(json);
                json.writeFieldName("verification");
                VerificationReport.write(json, verification);
                json.writeFieldName("replays");
                VerdictList.write(json, replays);
                json.writeEndObject();
            });
            return ExitCodes.OK;
        }
        summary.print(out);
        VerificationReport.print(out, verification);
        VerdictList.print(out, replays);
        out.flush();
        return ExitCodes.OK;
    }

    private int octets(DataFolder folder, RunId id, DifferingOctets kind) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        for (VerdictStore.Document each :
                new VerdictStore(folder.root()).list(id).reversed()) {
            Difference found = kind.of(PayloadKeyFile.vault(folder), id, each.file());
            if (found != null) {
                if (common.json()) {
                    JsonOut.document(out, json -> {
                        json.writeStartObject();
                        json.writeStringField("document", each.file().toString());
                        json.writeNumberField("at", found.at());
                        json.writeNumberField("from", found.from());
                        json.writeStringField("recorded", found.recorded());
                        json.writeStringField("replayed", found.replayed());
                        json.writeEndObject();
                    });
                } else {
                    ReplayReport.print(out, found);
                    out.flush();
                }
                return ExitCodes.OK;
            }
        }
        throw CommandException.badInput("no replay of run " + id
                + switch (kind) {
                    case REQUEST -> " asked the network for something that the recording does not have";
                    case OUTPUT -> " printed something else than the recording has";
                });
    }
}
