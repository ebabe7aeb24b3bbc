package blackbox.evidence.store;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.files.BoundedFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;

/// Reads the files that say whom to trust. They may be pipes; none is read beyond what such a file can be long.
public final class TrustFiles {

    /// The longest verifier key, of ML-DSA-65, is 2,700 octets long.
    static final int KEY_BYTES_MAX = 16 << 10;

    static final int POLICY_BYTES_MAX = 1 << 20;

    /// All certificate authorities of a browser are 250 KB.
    static final int CERTIFICATES_BYTES_MAX = 16 << 20;

    private TrustFiles() {}

    /// The verifier key in a file.
    ///
    /// @throws IllegalArgumentException when it is not one, as [NoteVerifiers#parse] says
    /// @throws IOException when the file cannot be read or is too long
    public static NoteVerifier key(Path file) throws IOException {
        return NoteVerifiers.parse(text(file, KEY_BYTES_MAX).strip());
    }

    /// The trust policy in a file.
    ///
    /// @throws IllegalArgumentException when it is not one
    /// @throws IOException when the file cannot be read or is too long
    public static TrustPolicy policy(Path file) throws IOException {
        return TrustPolicy.parse(text(file, POLICY_BYTES_MAX), NoteVerifiers::parse);
    }

    /// The certificates (PEM) of time authorities in a file.
    ///
    /// @throws CertificateException when there are none
    /// @throws IOException when the file cannot be read or is too long
    public static List<X509Certificate> certificates(Path file) throws IOException, CertificateException {
        return TimeAuthorities.certificates(BoundedFiles.readGiven(file, CERTIFICATES_BYTES_MAX));
    }

    /// What is not UTF-8 becomes U+FFFD, which none of these files has.
    private static String text(Path file, int octetsMax) throws IOException {
        return new String(BoundedFiles.readGiven(file, octetsMax), StandardCharsets.UTF_8);
    }
}
