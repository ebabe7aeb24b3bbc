package blackbox.verifier;

import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.proof.EventProof;
import blackbox.evidence.proof.ProofJson;
import blackbox.evidence.proof.ProofReport;
import blackbox.evidence.proof.ProofTrust;
import blackbox.evidence.proof.ProofVerdict;
import blackbox.evidence.proof.ProofVerifier;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Requirement;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.VerificationReport;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// The verifier's command line. Exit 0 when everything holds, 1 when it does not, 2 for bad input, 3 for an
/// operating failure: what could not be read, for want of memory too, is no verdict.
@Command(
        name = "blackbox-verifier",
        description = "Verifies recordings of Blackbox offline, from files and public keys alone.",
        version = "blackbox-verifier " + Release.VERSION,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  java -jar blackbox-verifier.jar --key log.pub evidence.zip",
            "  java -jar blackbox-verifier.jar --key log.pub --json event-proof.json",
            "  java -jar blackbox-verifier.jar --data DIR last"
        })
public final class Main implements Callable<Integer> {

    private static final int DOES_NOT_HOLD = 1;
    private static final int FAILED = 3;

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Mixin
    private Trust trust = new Trust();

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "A data folder: verify a run in it, with the folder's own keys unless others are given.")
    @Nullable
    private Path data;

    @Option(
            names = "--require",
            paramLabel = "WHAT",
            split = ",",
            description =
                    "Exit 1 unless this holds, too: complete (nothing was lost), anchored (trusted outside parties"
                            + " vouch for when it was), trusted (so are the keys that signed it), armed (it could be stopped all"
                            + " the time); may be repeated. Not for proofs.")
    private List<String> required = new ArrayList<>();

    @Parameters(
            index = "0",
            paramLabel = "PATH",
            description =
                    "A bundle (ZIP or folder) or the proof of an event; with --data a run's id, a unique prefix of"
                            + " it, or `last`.")
    private String said = "";

    @Spec
    private CommandSpec spec;

    private Main() {
        spec = CommandSpec.create(); // picocli replaces it
    }

    public static void main(String[] args) {
        System.exit(run(args));
    }

    static int run(String... args) {
        try {
            return new CommandLine(new Main())
                    .setExecutionExceptionHandler((failure, _, _) -> failed(failure))
                    .execute(args);
        } catch (OutOfMemoryError e) {
            return failed("it takes more memory to verify this than the "
                    + (Runtime.getRuntime().maxMemory() >> 20)
                    + " MiB that Java may use here; give it more, such as java -Xmx4g -jar …");
        } catch (Throwable e) { // whatever it is, it is no verdict
            return failed(e);
        }
    }

    private static int failed(Throwable why) {
        return failed(why instanceof IOException ? String.valueOf(why.getMessage()) : "it failed: " + why);
    }

    /// Says that this is not about what was to be verified.
    private static int failed(String why) {
        System.err.println("blackbox-verifier: " + why + " (nothing was verified, and nothing was found to be wrong)");
        return FAILED;
    }

    @Override
    public Integer call() throws IOException {
        requirements(); // tells a wrong one before the work
        if (data != null) {
            var recordings = Recordings.unchecked(data);
            List<Path> own = Recordings.entries(recordings.keys()).stream()
                    .filter(file -> file.toString().endsWith(".pub"))
                    .toList();
            return answer(RunOrigin.verify(recordings, runMeant(recordings), trust.keys(own), null, trust.anchors()));
        }
        Path path = Path.of(said);
        if (!Files.exists(path)) {
            throw new ParameterException(spec.commandLine(), "there is no " + path);
        }
        byte[] proof = proofIn(path);
        return proof == null
                ? answer(BundleVerifier.verify(path, trust.keys(List.of()), trust.anchors()))
                : answer(proof);
    }

    /// The content of the file, if it looks like a proof.
    private static byte @Nullable [] proofIn(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            return null;
        }
        try (InputStream in = Files.newInputStream(path)) {
            byte[] octets = in.readNBytes(EventProof.BYTES_MAX + 1);
            return ProofJson.looksLikeOne(octets) ? octets : null;
        }
    }

    private List<Requirement> requirements() {
        try {
            return Requirement.named(required);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private int answer(byte[] proof) throws IOException {
        if (!required.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--require is not for the proof of an event");
        }
        var whom = ProofTrust.of(trust.policy(), trust.keys(List.of()), trust.authorities());
        ProofVerdict verdict = ProofVerifier.verify(proof, whom);
        print(out -> ProofReport.write(out, verdict), out -> ProofReport.print(out, verdict));
        return verdict.holds() ? 0 : DOES_NOT_HOLD;
    }

    private int answer(Verification verification) throws IOException {
        List<Requirement> unmet = Requirement.unmet(requirements(), verification);
        print(
                out -> {
                    out.writeStartObject();
                    VerificationReport.writeFields(out, verification);
                    Requirement.writeUnmet(out, unmet);
                    out.writeEndObject();
                },
                out -> {
                    VerificationReport.print(out, verification);
                    unmet.forEach(each -> out.println(each.unmetSentence()));
                });
        return verification.holds() && unmet.isEmpty() ? 0 : DOES_NOT_HOLD;
    }

    /// Writes a JSON document.
    @FunctionalInterface
    private interface Document {
        void write(JsonGenerator out) throws IOException;
    }

    private void print(Document document, Consumer<PrintWriter> text) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonGenerator generator =
                    new JsonFactory().createGenerator(out).configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false);
            document.write(generator);
            generator.flush();
            out.println();
        } else {
            text.accept(out);
        }
        out.flush();
    }

    /// Names are not looked up: that would need a parser for what recorders put into a run's first event.
    private RunId runMeant(Recordings recordings) throws IOException {
        List<RunId> runs = recordings.runs();
        List<RunId> matches = said.equals("last")
                ? runs.subList(Math.max(0, runs.size() - 1), runs.size())
                : runs.stream().filter(run -> run.value().startsWith(said)).toList();
        if (matches.size() != 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    matches.size() + " runs in " + recordings.data() + " have an id that starts with " + said);
        }
        return matches.getFirst();
    }
}
