package blackbox.node.data;

import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Whom an installation trusts, according to the `keys` folder of its data folder. Every call reads the files
/// again.
public record LocalTrust(DataFolder data) {

    /// The certificates (`*.pem`) of the time authorities that this installation trusts.
    public List<Path> timeAuthorities() throws IOException {
        return files(data.timeAuthorities(), ".pem");
    }

    /// The files with the public keys that this installation trusts.
    public List<Path> publicKeyFiles() throws IOException {
        return files(data.keys(), ".pub");
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

    /// Whose statements about time this installation trusts: the policy's witnesses, and these time
    /// authorities.
    ///
    /// @throws IOException when a file exists but cannot be used
    public AnchorTrust anchorTrust() throws IOException {
        try {
            String policy = Files.exists(data.policy()) ? Files.readString(data.policy()) : "quorum none\n";
            var certificates = new ArrayList<X509Certificate>();
            for (Path file : timeAuthorities()) {
                certificates.addAll(TimeAuthorities.certificates(Files.readAllBytes(file)));
            }
            return new AnchorTrust(TrustPolicy.parse(policy, NoteVerifiers::parse), TimeAuthorities.of(certificates));
        } catch (IllegalArgumentException | CertificateException e) {
            throw new IOException("cannot use the trust settings in " + data.keys() + ": " + e.getMessage(), e);
        }
    }

    /// The recordings to answer from: only what is sealed by a key that this installation trusts, or that its log
    /// of runs vouches for.
    public Recordings recordings() {
        Recordings unchecked = DataFiles.unchecked(data);
        return unchecked.trusting(new InstalledTrust(unchecked, this::trustedKeys, this::believedKeys));
    }

    /// The keys that are trusted, and those of the policy's logs.
    public List<NoteVerifier> believedKeys() throws IOException {
        var believed = new ArrayList<>(trustedKeys());
        anchorTrust().policy().logs().stream()
                .filter(log -> !believed.contains(log))
                .forEach(believed::add);
        return believed;
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
