package blackbox.cli;

import blackbox.cli.data.DataFolder;
import blackbox.query.QueryException;
import blackbox.query.store.Recordings;
import blackbox.query.verify.RunVerifier;
import blackbox.query.verify.Verification;
import blackbox.query.verify.VerificationReport;
import blackbox.schemas.log.NoteVerifier;
import blackbox.schemas.sign.NoteVerifiers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox verify`.
@Command(
        name = "verify",
        description = "Verify a run offline, from its files and public keys alone. Exit 0 only where it holds.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  blackbox verify last", "  blackbox verify last --key recorder.pub --key ingest.pub --json"})
final class VerifyCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "A public key to trust; may be repeated (default: the keys in the data folder).")
    private List<Path> keyFiles = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        DataFolder folder = common.dataFolder();
        var recordings = new Recordings(folder.root());
        List<NoteVerifier> keys = keyFiles.isEmpty() ? folder.trustedKeys() : keys();
        Verification verification = RunVerifier.verify(recordings, run.resolve(recordings), keys);
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> VerificationReport.write(json, verification));
        } else {
            VerificationReport.print(out, verification);
            out.flush();
        }
        return verification.holds() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private List<NoteVerifier> keys() {
        var keys = new ArrayList<NoteVerifier>();
        for (Path file : keyFiles) {
            try {
                keys.add(NoteVerifiers.parse(Files.readString(file)));
            } catch (IOException | IllegalArgumentException e) {
                throw CommandException.badInput("there is no public key in " + file + ": " + e.getMessage());
            }
        }
        return keys;
    }
}
