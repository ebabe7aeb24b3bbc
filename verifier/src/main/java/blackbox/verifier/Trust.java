package blackbox.verifier;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.store.TrustFiles;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.files.RefusedFileException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/// Whom to trust, as given on the command line.
final class Trust {

    @Option(names = "--key", paramLabel = "FILE", description = "A public key to trust; may be repeated.")
    private List<Path> keyFiles = new ArrayList<>();

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "A trust policy (C2SP tlog-policy): logs, witnesses, quorum.")
    @Nullable
    private Path policyFile;

    @Option(
            names = {"--time-authority", "--time-root"},
            paramLabel = "FILE",
            description = "Certificates (PEM) of time authorities to trust; may be repeated.")
    private List<Path> authorityFiles = new ArrayList<>();

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    Trust() {
        spec = CommandSpec.create(); // picocli replaces it
    }

    /// The keys that were given; if none were, those in `folder`.
    List<NoteVerifier> keys(List<Path> folder) throws IOException {
        var keys = new ArrayList<>(policy().logs());
        for (Path file : keyFiles.isEmpty() && keys.isEmpty() ? folder : keyFiles) {
            try {
                keys.add(TrustFiles.key(file));
            } catch (IllegalArgumentException | RefusedFileException e) {
                throw bad("there is no public key in " + file + ": " + e.getMessage(), e);
            }
        }
        return keys;
    }

    /// The policy that was given; otherwise one that requires no witness.
    TrustPolicy policy() throws IOException {
        Path file = policyFile;
        if (file == null) {
            return TrustPolicy.of(List.of());
        }
        try {
            return TrustFiles.policy(file);
        } catch (IllegalArgumentException | RefusedFileException e) {
            throw bad("there is no trust policy in " + file + ": " + e.getMessage(), e);
        }
    }

    /// Whose statements about time are trusted: only those that were given.
    AnchorTrust anchors() throws IOException {
        return new AnchorTrust(policy(), authorities());
    }

    TimeAuthorities authorities() throws IOException {
        var certificates = new ArrayList<X509Certificate>();
        for (Path file : authorityFiles) {
            try {
                certificates.addAll(TrustFiles.certificates(file));
            } catch (CertificateException | RefusedFileException e) {
                throw bad("there are no certificates in " + file + ": " + e.getMessage(), e);
            }
        }
        return TimeAuthorities.of(certificates);
    }

    private ParameterException bad(String what, Exception why) {
        return new ParameterException(spec.commandLine(), what, why);
    }
}
