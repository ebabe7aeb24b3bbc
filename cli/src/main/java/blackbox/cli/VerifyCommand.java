package blackbox.cli;

import blackbox.cli.exit.CommandException;
import blackbox.cli.exit.ExitCodes;
import blackbox.cli.options.CommonOptions;
import blackbox.cli.options.RunArgument;
import blackbox.cli.options.TrustOptions;
import blackbox.cli.output.JsonOut;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.ProofReport;
import blackbox.evidence.proof.ProofTrust;
import blackbox.evidence.proof.ProofVerdict;
import blackbox.evidence.proof.ProofVerifier;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.Requirement;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.files.BoundedFiles;
import blackbox.files.RefusedFileException;
import blackbox.ingest.table.CatalogView;
import blackbox.query.QueryException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `blackbox verify`.
@Command(
        name = "verify",
        description =
                "Verify a run, a bundle, or an event's proof in a file; offline, from files and public keys alone."
                        + " Exit 0 only when it holds.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  blackbox verify last",
            "  blackbox verify last --require complete,armed",
            "  blackbox verify last --key log.pub --json",
            "  blackbox verify event.json --key log.pub",
            "  blackbox verify evidence.zip --key log.pub"
        })
final class VerifyCommand implements Callable<Integer> {

    @Mixin
    private CommonOptions common;

    @Mixin
    private RunArgument run;

    @Mixin
    private TrustOptions trust;

    @Option(
            names = "--checkpoint",
            paramLabel = "FILE",
            description = "A checkpoint of the log of runs that you kept: the log must be an extension of it.")
    @Nullable
    private Path keptFile;

    @Option(
            names = "--require",
            paramLabel = "WHAT",
            split = ",",
            completionCandidates = Requirement.Names.class,
            description = "Exit 1 unless this holds of the run, too; may be repeated. complete: nothing of it was lost."
                    + " anchored: trusted outside parties vouch for when it was. trusted: so are the keys that signed it."
                    + " armed: it could be stopped from its host all the time.")
    private List<String> required = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, QueryException {
        DataFolder folder = common.dataFolder();
        requirements(); // tells a wrong one before the work
        if (run.isLast()) { // even if there is a file of that name
            return report(verifyRun(folder));
        }
        byte[] octets = proofIn(Path.of(run.said()));
        if (octets != null) {
            return verifyProof(octets, folder);
        }
        Path bundle = Path.of(run.said());
        return report(
                isBundle(bundle)
                        ? BundleVerifier.verify(bundle, trust.believed(folder), trust.anchors(folder))
                        : verifyRun(folder));
    }

    /// The content of the file, if it is a file and looks like a proof.
    private static byte @Nullable [] proofIn(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return null;
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] octets = in.readNBytes(EventProof.BYTES_MAX + 1);
            return ProofJson.looksLikeOne(octets) ? octets : null;
        }
    }

    /// A file, or a path that is clearly a folder: a run may have the same name as some folder.
    private static boolean isBundle(Path path) {
        return Files.isRegularFile(path) || Files.exists(path.resolve(BundleVerifier.STATEMENT));
    }

    private Verification verifyRun(DataFolder folder) throws IOException, QueryException {
        var recordings = common.recordings();
        RunId meant = run.resolveAlsoLost(recordings);
        return CatalogView.verify(recordings, meant, trust.believed(folder), kept(), trust.anchors(folder));
    }

    private List<Requirement> requirements() {
        try {
            return Requirement.named(required);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }

    private int report(Verification verification) throws IOException {
        List<Requirement> unmet = Requirement.unmet(requirements(), verification);
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> {
                json.writeStartObject();
                VerificationReport.writeFields(json, verification);
                Requirement.writeUnmet(json, unmet);
                json.writeEndObject();
            });
        } else {
            VerificationReport.print(out, verification);
            unmet.forEach(each -> out.println(each.unmetSentence()));
            out.flush();
        }
        return verification.holds() && unmet.isEmpty() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private int verifyProof(byte[] octets, DataFolder folder) throws IOException {
        if (!required.isEmpty()) {
            throw CommandException.badInput(
                    "--require is about runs and bundles; a proof shows one event, and only what it needs of its run");
        }
        ProofVerdict verdict = ProofVerifier.verify(
                octets, ProofTrust.of(trust.policy(folder), trust.keys(folder), trust.authorities(folder)));
        PrintWriter out = spec.commandLine().getOut();
        if (common.json()) {
            JsonOut.document(out, json -> ProofReport.write(json, verdict));
        } else {
            ProofReport.print(out, verdict);
            out.flush();
        }
        return verdict.holds() ? ExitCodes.OK : ExitCodes.DOES_NOT_HOLD;
    }

    private @Nullable SignedNote kept() throws IOException {
        Path file = keptFile;
        if (file == null) {
            return null;
        }
        SignedNote note = Files.isReadable(file) ? noteIn(file) : null;
        if (note == null) {
            throw CommandException.badInput("there is no signed checkpoint in " + file);
        }
        return note;
    }

    private static @Nullable SignedNote noteIn(Path file) throws IOException {
        try {
            return SignedNote.parse(BoundedFiles.readGiven(file, TransparencyLogReader.NOTE_BYTES_MAX));
        } catch (RefusedFileException e) {
            return null;
        }
    }
}
