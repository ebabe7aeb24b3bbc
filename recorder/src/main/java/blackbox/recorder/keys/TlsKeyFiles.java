package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.Progress;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.jspecify.annotations.Nullable;

/// The key and certificate with which the HTTP service speaks TLS: files that its operator names, or a pair that is
/// made here and kept in the data folder's `keys/` (`schemas/keys.md`).
public final class TlsKeyFiles {

    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";

    /// As long as public authorities' certificates may be valid, plus what is left when they are renewed.
    private static final Duration VALID = Duration.ofDays(397);

    /// Made anew by the first start within this time before its end.
    private static final Duration RENEWED_BEFORE_END = Duration.ofDays(30);

    /// For clients whose clocks are slow.
    private static final Duration VALID_BEFORE_NOW = Duration.ofHours(1);

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
    public static TlsKey read(Path chain, Path key, Instant now) {
        TlsKey read = TlsPem.parse(TlsPem.read(chain), chain, TlsPem.read(key), key);
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
    public static TlsKey loadOrCreate(Path folder, Collection<String> names, KeyAccess access, Progress progress)
            throws RecorderException {
        try (ProcessLock _ = KeysLock.take(folder)) {
            Instant now = access.clock().instant();
            return switch (existing(folder)) {
                case Pair(TlsKey key) -> {
                    String unfit = unfit(key, names, now);
                    if (unfit != null) {
                        yield replace(folder, names, access, unfit, progress);
                    }
                    sayIfNotValidYet(key, folder, now, progress);
                    yield key;
                }
                case NoPair(String why) -> replace(folder, names, access, why, progress);
            };
        } catch (IOException | GeneralSecurityException | OperatorCreationException | IllegalArgumentException e) {
            throw new RecorderException(
                    Code.KEY, "cannot use or make the TLS key " + folder.resolve(KEY) + ": " + e.getMessage(), e);
        }
    }

    /// What is in the folder.
    private sealed interface Existing {}

    private record Pair(TlsKey key) implements Existing {}

    private record NoPair(String why) implements Existing {}

    private static Existing existing(Path folder) throws IOException, RecorderException {
        Path certificate = folder.resolve(CERTIFICATE);
        Path key = folder.resolve(KEY);
        if (!OwnerFile.exists(certificate) && !OwnerFile.exists(key)) {
            return new NoPair("there was none");
        }
        if (!OwnerFile.exists(certificate) || !OwnerFile.exists(key)) {
            return new NoPair("of the old ones only " + (OwnerFile.exists(key) ? key : certificate) + " was there");
        }
        try {
            return new Pair(TlsPem.parse(Files.readString(certificate), certificate, OwnerFile.read(key), key));
        } catch (CharacterCodingException _) {
            return new NoPair("the old ones were damaged");
        } catch (IllegalArgumentException e) { // damaged, or halves of two pairs
            return new NoPair("the old ones could not be used: " + e.getMessage());
        }
    }

    /// Why another pair is needed; null if none is.
    private static @Nullable String unfit(TlsKey key, Collection<String> names, Instant now) {
        Instant until = key.chain().getFirst().getNotAfter().toInstant();
        if (!until.isAfter(now.plus(RENEWED_BEFORE_END))) {
            return "the old certificate " + (until.isAfter(now) ? "is valid until " : "was valid until ") + until;
        }
        List<String> lacking = key.lacking(names);
        return lacking.isEmpty() ? null : "the old certificate is not for " + String.join(", ", lacking);
    }

    private static void sayIfNotValidYet(TlsKey key, Path folder, Instant now, Progress progress) {
        Instant from = key.chain().getFirst().getNotBefore().toInstant();
        if (now.isBefore(from)) {
            progress.say("the certificate " + certificate(folder) + " is valid from " + from
                    + ", and this machine's clock says " + now.truncatedTo(ChronoUnit.SECONDS)
                    + ": it is used all the same. If the clock was set back, set it right; if the certificate was made"
                    + " while it was ahead, delete " + folder.resolve(KEY) + ", and the next start makes another");
        }
    }

    private static TlsKey replace(
            Path folder, Collection<String> names, KeyAccess access, String why, Progress progress)
            throws GeneralSecurityException, OperatorCreationException, IOException {
        boolean known = OwnerFile.exists(certificate(folder));
        TlsKey made = create(folder, names, access);
        progress.say("made a key and a certificate for TLS, " + certificate(folder) + ", because " + why
                + "; its SHA-256 fingerprint is " + made.fingerprint()
                + (known ? "; clients that were given the old one, or its fingerprint, need the new one" : ""));
        return made;
    }

    private static TlsKey create(Path folder, Collection<String> names, KeyAccess access)
            throws GeneralSecurityException, OperatorCreationException, IOException {
        KeyPairGenerator generator = CryptoProvider.current().keyPairGenerator("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), access.random());
        KeyPair pair = generator.generateKeyPair();
        Instant now = access.clock().instant();
        var said = new SelfSigned("Blackbox API", now.minus(VALID_BEFORE_NOW), now.plus(VALID), names);
        X509Certificate certificate = said.sign(pair, generator.getProvider(), access.random());
        OwnerFile.write(
                folder.resolve(KEY),
                TlsPem.text(new PKCS8Generator(
                        PrivateKeyInfo.getInstance(pair.getPrivate().getEncoded()), null)));
        OwnerFile.writePublic(folder.resolve(CERTIFICATE), TlsPem.text(certificate));
        return new TlsKey(pair.getPrivate(), List.of(certificate));
    }
}
