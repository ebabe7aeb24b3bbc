package blackbox.recorder.keys;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Set;

/// The key and certificate with which the HTTP service speaks TLS: files that its operator names, or a pair that is
/// made here and kept in the data folder's `keys/` (`schemas/keys.md`).
public final class TlsKeyFiles {

    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";

    /// As long as public authorities' certificates may be valid, plus what is left when they are renewed.
    private static final Duration VALID = Duration.ofDays(397);

    /// Made anew by the first start within this time before its end.
    private static final Duration RENEWED_BEFORE_END = Duration.ofDays(30);

    private static final Set<PosixFilePermission> OTHERS = Set.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private TlsKeyFiles() {}

    /// Where the certificate that is made here is stored; everyone may read it.
    public static Path certificate(Path folder) {
        return folder.resolve(CERTIFICATE);
    }

    /// Reads what the operator gave.
    ///
    /// @param chain certificates in PEM, the server's first
    /// @param key a private key in PEM: PKCS#8, not encrypted
    /// @throws IllegalArgumentException when a file cannot be read or is not of its kind, the key is of a kind that
    ///     TLS does not have or does not belong to the certificate, a certificate is not valid now, or others may
    ///     read the key
    public static CertifiedKey read(Path chain, Path key, Instant now) {
        CertifiedKey read = TlsPem.parse(TlsPem.read(chain), chain, TlsPem.read(key), key);
        TlsPem.checkTimes(read, chain, now);
        try {
            if (!Collections.disjoint(Files.getPosixFilePermissions(key), OTHERS)) {
                throw new IllegalArgumentException("the key file " + key + " must be readable by its owner alone: run"
                        + " chmod 600 on it, and consider who may have read it");
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("the permissions of " + key + " cannot be read", e);
        }
        return read;
    }

    /// Reads the pair that was made here, or makes one: if there is none yet, if it is about to expire, if a crash
    /// left halves of two pairs, or if it lacks one of these names. One that is not valid yet by this machine's
    /// clock is kept: the clock was set back, and clients have other clocks.
    ///
    /// @param names host names and IP addresses that clients may ask for
    /// @param progress is told of a pair that is made, with its fingerprint and why, and of one that is not valid
    /// yet
    /// @throws RecorderException when the files cannot be read or written, or others may read the key
    public static CertifiedKey loadOrCreate(Path folder, Collection<String> names, KeyAccess access, Progress progress)
            throws RecorderException {
        return pair(folder).loadOrCreate("Blackbox API", new SelfSigned.Purpose.Server(names), access, progress);
    }

    private static OwnPair pair(Path folder) {
        return new OwnPair(
                certificate(folder), folder.resolve(KEY), VALID, RENEWED_BEFORE_END, false, "TLS", "clients");
    }
}
