package blackbox.verifier;

import blackbox.query.store.Recordings;
import blackbox.query.verify.RunVerifier;
import blackbox.query.verify.Verification;
import blackbox.query.verify.VerificationReport;
import blackbox.schemas.RunId;
import blackbox.schemas.log.NoteVerifier;
import blackbox.schemas.sign.NoteVerifiers;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// The verifier's command line. Exit 0 where everything holds, 1 where it does not, 2 for bad input, 3 for an
/// operating failure.
@Command(
        name = "blackbox-verifier",
        description = "Verifies recordings of Blackbox offline, from files and public keys alone.",
        version = "blackbox-verifier 0.1.0",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  java -jar blackbox-verifier.jar --data DIR last --key log.pub --key ingest.pub"})
public final class Main implements Callable<Integer> {

    private static final int DOES_NOT_HOLD = 1;
    private static final int FAILED = 3;

    @Option(names = "--json", description = "One JSON document on standard output.")
    private boolean json;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "A public key to trust; may be repeated (default: the keys in the data folder).")
    private List<Path> keyFiles = new ArrayList<>();

    @Option(names = "--data", paramLabel = "DIR", required = true, description = "The data folder that RUN is in.")
    private Path data = Path.of("");

    @Parameters(index = "0", paramLabel = "RUN", description = "A run's id, a unique prefix of it, or `last`.")
    private String said = "last";

    @Spec
    private CommandSpec spec;

    private Main() {
        spec = CommandSpec.create(); // picocli puts its own in
    }

    public static void main(String[] args) {
        System.exit(run(args));
    }

    static int run(String... args) {
        return new CommandLine(new Main())
                .setExecutionExceptionHandler((failure, command, _) -> {
                    command.getErr().println("blackbox-verifier: " + failure.getMessage());
                    return FAILED;
                })
                .execute(args);
    }

    @Override
    public Integer call() throws IOException {
        var recordings = new Recordings(data);
        Verification verification = RunVerifier.verify(recordings, runMeant(recordings), keys());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonGenerator document =
                    new JsonFactory().createGenerator(out).configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false);
            VerificationReport.write(document, verification);
            document.flush();
            out.println();
        } else {
            VerificationReport.print(out, verification);
        }
        out.flush();
        return verification.holds() ? 0 : DOES_NOT_HOLD;
    }

    /// Names are not looked up: that would take a reader for what recorders put into a run's first event.
    private RunId runMeant(Recordings recordings) throws IOException {
        List<RunId> runs = recordings.runs();
        List<RunId> matches = said.equals("last")
                ? runs.subList(Math.max(0, runs.size() - 1), runs.size())
                : runs.stream().filter(run -> run.value().startsWith(said)).toList();
        if (matches.size() != 1) {
            throw new ParameterException(
                    spec.commandLine(), matches.size() + " runs in " + data + " have an id that starts with " + said);
        }
        return matches.getFirst();
    }

    private List<NoteVerifier> keys() throws IOException {
        List<Path> files = keyFiles;
        if (files.isEmpty()) {
            files = Recordings.entries(data.resolve("keys")).stream()
                    .filter(file -> file.toString().endsWith(".pub"))
                    .toList();
        }
        var keys = new ArrayList<NoteVerifier>();
        for (Path file : files) {
            try {
                keys.add(NoteVerifiers.parse(Files.readString(file).strip()));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(
                        spec.commandLine(), "there is no public key in " + file + ": " + e.getMessage(), e);
            }
        }
        return keys;
    }
}
