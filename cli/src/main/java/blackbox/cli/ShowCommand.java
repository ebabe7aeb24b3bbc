package blackbox.cli;

import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.node.data.LocalTrust;
import blackbox.node.verdict.VerdictList;
import blackbox.query.QueryException;
import blackbox.query.answer.RunSummary;
import blackbox.replay.verdict.LoggedVerdict;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `blackbox show`.
@Command(
        name = "show",
        description =
                "Summarize one run: what ran, on which image, what was counted and lost, and whether it verifies.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExample:%n",
        footer = "  blackbox show last")
final class ShowCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        DataFolder folder = common.dataFolder();
        var recordings = common.recordings();
        RunId id = run.resolve(recordings);
        RunSummary summary = RunSummary.read(recordings, id);
        Verification verification = RunVerifier.verify(
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
}
