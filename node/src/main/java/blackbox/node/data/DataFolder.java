package blackbox.node.data;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.time.TimeAuthorities;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Where a Blackbox keeps everything; every path below it is named here and nowhere else.
public record DataFolder(Path root) {

    public DataFolder {
        root = root.toAbsolutePath().normalize();
    }

    /// Signing keys (`*.key`, mode 0600) and the public keys that verification trusts (`*.pub`).
    public Path keys() {
        return root.resolve("keys");
    }

    /// Sealed batches that the broker has not acknowledged.
    public Path spool() {
        return root.resolve("spool");
    }

    /// One folder a run with the lock that says its recorder lives.
    public Path runs() {
        return root.resolve("runs");
    }

    /// One folder a run with what is kept beside its events: `schemas/capture.md`.
    public Path captures() {
        return root.resolve("captures");
    }

    /// Batches that failed their check, and damaged spool segments.
    public Path quarantine() {
        return root.resolve("quarantine");
    }

    /// The log of runs, and what outside parties say about it.
    public Path log() {
        return root.resolve("log");
    }

    /// The record and the key of this folder's witness for others' logs.
    public Path witness() {
        return root.resolve("witness");
    }

    /// Workspaces that came back from runs.
    public Path workspaces() {
        return root.resolve("workspaces");
    }

    /// The trust policy (C2SP tlog-policy), where there is one.
    public Path policy() {
        return keys().resolve("policy");
    }

    /// The certificates (`*.pem`) of the time authorities that this installation trusts.
    public List<Path> timeAuthorities() throws IOException {
        return files(keys().resolve("time"), ".pem");
    }

    /// The files with the public keys that this installation trusts.
    public List<Path> publicKeyFiles() throws IOException {
        return files(keys(), ".pub");
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    /// Whose word on time this installation takes: the policy's witnesses, and these time authorities.
    ///
    /// @throws IOException when a file is there and cannot be used
    public AnchorTrust anchorTrust() throws IOException {
        try {
            String policy = Files.exists(policy()) ? Files.readString(policy()) : "quorum none\n";
            var certificates = new ArrayList<X509Certificate>();
            for (Path file : timeAuthorities()) {
                certificates.addAll(TimeAuthorities.certificates(Files.readAllBytes(file)));
            }
            return new AnchorTrust(TrustPolicy.parse(policy, NoteVerifiers::parse), TimeAuthorities.of(certificates));
        } catch (IllegalArgumentException | CertificateException e) {
            throw new IOException("cannot use what is trusted in " + keys() + ": " + e.getMessage(), e);
        }
    }

    /// The public keys that this installation trusts.
    public List<NoteVerifier> trustedKeys() throws IOException {
        var verifiers = new ArrayList<NoteVerifier>();
        for (Path file : publicKeyFiles()) {
            verifiers.add(NoteVerifiers.parse(Files.readString(file)));
        }
        return verifiers;
    }
}
