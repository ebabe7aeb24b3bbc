package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.Hash;
import blackbox.schemas.Progress;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.jspecify.annotations.Nullable;

/// An ECDSA key with a certificate that it signs for itself, which are made here and kept in the data
/// folder's `keys/`.
///
/// @param certificate where the certificate is, in PEM; everyone may read it
/// @param key where the key is, in PEM; its owner alone may read it
/// @param valid how long a certificate holds
/// @param renewedBefore how long before its end the first use makes another
/// @param keepsOld whether a certificate that is replaced stays beside it, for those who ask whose it was
/// @param use in words what the two are for: `TLS`
/// @param users who may have been given the certificate or its fingerprint, for the one who replaces it:
///     `clients`
record OwnPair(
        Path certificate,
        Path key,
        Duration valid,
        Duration renewedBefore,
        boolean keepsOld,
        String use,
        String users) {

    /// For those whose clocks are slow.
    private static final Duration VALID_BEFORE_NOW = Duration.ofHours(1);

    /// Reads the pair, or makes one: if there is none yet, if it is about to expire, if a crash left halves
    /// of two pairs, or if it lacks one of a server's names. One that is not valid yet by this machine's
    /// clock is kept: the clock was set back, and others have other clocks.
    ///
    /// @param name of a certificate that is made
    /// @param progress is told of a pair that is made, with its fingerprint and why, and of one that is not
    ///     valid yet
    /// @throws RecorderException when the files cannot be read or written, or others may read the key
    CertifiedKey loadOrCreate(String name, SelfSigned.Purpose purpose, KeyAccess access, Progress progress)
            throws RecorderException {
        try {
            Instant now = access.clock().instant();
            // Without the lock, which only who may write there can take: what is replaced in the meantime is no pair.
            if (existing() instanceof Pair(CertifiedKey found) && unfit(found, purpose, now) == null) {
                sayIfNotValidYet(found, now, progress);
                return found;
            }
            try (ProcessLock _ = KeysLock.take(Objects.requireNonNull(key.getParent()))) {
                return switch (existing()) {
                    case Pair(CertifiedKey found) -> {
                        String unfit = unfit(found, purpose, now);
                        yield unfit == null ? found : replace(name, purpose, access, unfit, progress);
                    }
                    case NoPair(String why) -> replace(name, purpose, access, why, progress);
                };
            }
        } catch (AccessDeniedException e) {
            throw new RecorderException(
                    Code.KEY,
                    "cannot use or make the key for " + use + " " + key + ": this user may not read or write "
                            + e.getFile(),
                    e);
        } catch (IOException | GeneralSecurityException | OperatorCreationException | IllegalArgumentException e) {
            throw new RecorderException(
                    Code.KEY, "cannot use or make the key for " + use + " " + key + ": " + e.getMessage(), e);
        }
    }

    /// What is in the folder.
    private sealed interface Existing {}

    private record Pair(CertifiedKey key) implements Existing {}

    private record NoPair(String why) implements Existing {}

    private Existing existing() throws IOException, RecorderException {
        if (!OwnerFile.exists(certificate) && !OwnerFile.exists(key)) {
            return new NoPair("there was none");
        }
        if (!OwnerFile.exists(certificate) || !OwnerFile.exists(key)) {
            return new NoPair("of the old ones only " + (OwnerFile.exists(key) ? key : certificate) + " was there");
        }
        try {
            return new Pair(
                    CertifiedKeyPem.parse(Files.readString(certificate), certificate, OwnerFile.read(key), key));
        } catch (CharacterCodingException _) {
            return new NoPair("the old ones were damaged");
        } catch (IllegalArgumentException e) { // damaged, or halves of two pairs
            return new NoPair("the old ones could not be used: " + e.getMessage());
        }
    }

    /// Why another pair is needed; null if none is.
    private @Nullable String unfit(CertifiedKey key, SelfSigned.Purpose purpose, Instant now) {
        Instant until = key.chain().getFirst().getNotAfter().toInstant();
        if (!until.isAfter(now.plus(renewedBefore))) {
            return "the old certificate " + (until.isAfter(now) ? "is valid until " : "was valid until ") + until;
        }
        List<String> lacking = purpose instanceof SelfSigned.Purpose.Server(var names) ? key.lacking(names) : List.of();
        return lacking.isEmpty() ? null : "the old certificate is not for " + String.join(", ", lacking);
    }

    private void sayIfNotValidYet(CertifiedKey found, Instant now, Progress progress) {
        Instant from = found.chain().getFirst().getNotBefore().toInstant();
        if (now.isBefore(from)) {
            progress.say(
                    "the certificate " + certificate + " is valid from " + from + ", and this machine's clock says "
                            + now.truncatedTo(ChronoUnit.SECONDS)
                            + ": it is used all the same. If the clock was set back, set it right; if the certificate was made"
                            + " while it was ahead, delete " + key + ", and another is made when one is needed");
        }
    }

    private CertifiedKey replace(
            String name, SelfSigned.Purpose purpose, KeyAccess access, String why, Progress progress)
            throws GeneralSecurityException, OperatorCreationException, IOException {
        boolean known = OwnerFile.exists(certificate);
        if (known && keepsOld) {
            keep();
        }
        CertifiedKey made = create(name, purpose, access);
        progress.say("made a key and a certificate for " + use + ", " + certificate + ", because " + why
                + "; its SHA-256 fingerprint is " + made.fingerprint()
                + (known ? "; " + users + " that were given the old one, or its fingerprint, need the new one" : ""));
        return made;
    }

    /// Under a name of its own: `report-` and the beginning of its digest.
    private void keep() throws IOException {
        String old = Files.readString(certificate);
        String file = Objects.requireNonNull(certificate.getFileName()).toString();
        String digest = Hash.sha256(old.getBytes(StandardCharsets.UTF_8)).toString();
        int dot = file.lastIndexOf('.');
        OwnerFile.writePublic(
                certificate.resolveSibling(
                        file.substring(0, dot) + "-" + digest.substring(0, 16) + file.substring(dot)),
                old);
    }

    private CertifiedKey create(String name, SelfSigned.Purpose purpose, KeyAccess access)
            throws GeneralSecurityException, OperatorCreationException, IOException {
        KeyPairGenerator generator = CryptoProvider.current().keyPairGenerator("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), access.random());
        KeyPair pair = generator.generateKeyPair();
        Instant now = access.clock().instant();
        var said = new SelfSigned(name, now.minus(VALID_BEFORE_NOW), now.plus(valid), purpose);
        X509Certificate signed = said.sign(pair, generator.getProvider(), access.random());
        OwnerFile.write(
                key,
                CertifiedKeyPem.text(new PKCS8Generator(
                        PrivateKeyInfo.getInstance(pair.getPrivate().getEncoded()), null)));
        OwnerFile.writePublic(certificate, CertifiedKeyPem.text(signed));
        return new CertifiedKey(pair.getPrivate(), List.of(signed));
    }
}
