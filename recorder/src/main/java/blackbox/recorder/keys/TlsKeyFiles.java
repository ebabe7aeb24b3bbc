package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;

/// The key and certificate with which the HTTP service speaks TLS unless its operator names others
/// ([CertifiedKey#read]): a pair that is made here and kept in the data folder's `keys/`
/// (`schemas/keys.md`).
public final class TlsKeyFiles {

    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";

    /// As long as public authorities' certificates may be valid, plus what is left when they are renewed.
    private static final Duration VALID = Duration.ofDays(397);

    /// Made anew by the first start within this time before its end.
    private static final Duration RENEWED_BEFORE_END = Duration.ofDays(30);

    private TlsKeyFiles() {}

    /// Where the certificate that is made here is stored; everyone may read it.
    public static Path certificate(Path folder) {
        return folder.resolve(CERTIFICATE);
    }

    /// Reads the pair that was made here, or makes one: if there is none yet, if it is about to expire, if
    /// a crash left halves of two pairs, or if it lacks one of these names. One that is not valid yet by
    /// this machine's clock is kept: the clock was set back, and clients have other clocks.
    ///
    /// @param names host names and IP addresses that clients may ask for
    /// @param progress is told of a pair that is made, with its fingerprint and why, and of one that is not
    ///     valid yet
    /// @throws RecorderException when the files cannot be read or written, or others may read the key
    public static CertifiedKey loadOrCreate(Path folder, Collection<String> names, KeyAccess access, Progress progress)
            throws RecorderException {
        return new OwnPair(certificate(folder), folder.resolve(KEY), VALID, RENEWED_BEFORE_END, false, "TLS", "clients")
                .loadOrCreate("Blackbox API", new SelfSigned.Purpose.Server(names), access, progress);
    }
}
