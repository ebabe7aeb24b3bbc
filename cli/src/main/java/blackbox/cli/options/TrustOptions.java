package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.store.TrustFiles;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.node.data.LocalTrust;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Whom to trust; add it as `@Mixin`. Whatever is given replaces everything that the data folder trusts.
public final class TrustOptions {

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "A public key to trust; may be repeated (default: the keys in the data folder).")
    private List<Path> keyFiles = new ArrayList<>();

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "A trust policy (C2SP tlog-policy): logs, witnesses, quorum (default: keys/policy).")
    @Nullable
    private Path policyFile;

    @Option(
            names = "--time-authority",
            paramLabel = "FILE",
            description = "Certificates (PEM) of time authorities to trust; may be repeated (default: keys/time/).")
    private List<Path> authorityFiles = new ArrayList<>();

    private boolean given() {
        return policyFile != null || !keyFiles.isEmpty() || !authorityFiles.isEmpty();
    }

    /// The keys that are trusted directly.
    public List<NoteVerifier> keys(DataFolder folder) throws IOException {
        if (!given()) {
            return new LocalTrust(folder).trustedKeys();
        }
        var keys = new ArrayList<NoteVerifier>();
        for (Path file : keyFiles) {
            try {
                keys.add(TrustFiles.key(file));
            } catch (IOException | IllegalArgumentException e) {
                throw CommandException.badInput("there is no public key in " + file + ": " + e.getMessage());
            }
        }
        return keys;
    }

    /// The trust policy; if there is none, one that requires no witness.
    public TrustPolicy policy(DataFolder folder) {
        Path file = policyFile != null ? policyFile : folder.policy();
        if (policyFile == null && (given() || !Files.exists(file))) {
            return TrustPolicy.of(List.of());
        }
        try {
            return TrustFiles.policy(file);
        } catch (IOException | IllegalArgumentException e) {
            throw CommandException.badInput("there is no trust policy in " + file + ": " + e.getMessage());
        }
    }

    /// The keys that are trusted directly, and those of the policy's logs.
    public List<NoteVerifier> believed(DataFolder folder) throws IOException {
        var believed = new ArrayList<>(keys(folder));
        policy(folder).logs().stream().filter(log -> !believed.contains(log)).forEach(believed::add);
        return believed;
    }

    /// Whose statements about time are trusted.
    public AnchorTrust anchors(DataFolder folder) throws IOException {
        return new AnchorTrust(policy(folder), authorities(folder));
    }

    /// The time authorities whose stamps count.
    public TimeAuthorities authorities(DataFolder folder) throws IOException {
        var certificates = new ArrayList<X509Certificate>();
        for (Path file : given() ? authorityFiles : new LocalTrust(folder).timeAuthorities()) {
            try {
                certificates.addAll(TrustFiles.certificates(file));
            } catch (IOException | CertificateException e) {
                throw CommandException.badInput("there are no certificates in " + file + ": " + e.getMessage());
            }
        }
        return TimeAuthorities.of(certificates);
    }
}
