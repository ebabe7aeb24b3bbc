package blackbox.recorder.keys;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.openssl.PEMEncryptedKeyPair;
import org.bouncycastle.openssl.PEMException;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;

/// A key with its certificates as two texts in PEM: a chain of certificates, and a private key in PKCS#8 that is not
/// encrypted.
///
/// Methods that read throw an [IllegalArgumentException] that says what is wrong with which text.
final class CertifiedKeyPem {

    private static final int CHALLENGE_OCTETS = 32;
    private static final String PSS = "RSASSA-PSS";
    private static final PSSParameterSpec PSS_SHA256 =
            new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, PSSParameterSpec.TRAILER_FIELD_BC);

    private CertifiedKeyPem() {}

    static String text(Object... objects) throws IOException {
        var text = new StringWriter();
        try (var pem = new JcaPEMWriter(text)) {
            for (Object each : objects) {
                pem.writeObject(each);
            }
        }
        return text.toString();
    }

    /// @param chainFile where `chain` is from, for messages
    /// @param keyFile where `key` is from, for messages
    static CertifiedKey parse(String chain, Path chainFile, String key, Path keyFile) {
        List<X509Certificate> certificates = certificates(chain, chainFile);
        String unfit = TlsKeyKind.unfit(certificates.getFirst().getPublicKey());
        if (unfit != null) {
            throw new IllegalArgumentException(
                    "the certificate in " + chainFile + " is for a key of a kind that cannot be used here: " + unfit
                            + "; take one for " + TlsKeyKind.FITTING);
        }
        PrivateKey privateKey = privateKey(key, keyFile);
        if (!belong(privateKey, certificates.getFirst())) {
            throw new IllegalArgumentException("the key in " + keyFile + " does not belong to the first certificate in "
                    + chainFile + "; the key's own certificate comes first, those of its issuers follow");
        }
        for (int i = 0; i < certificates.size(); i++) {
            if (i > 0 && !issued(certificates.get(i), certificates.get(i - 1))) {
                throw new IllegalArgumentException("certificate " + (i + 1) + " in " + chainFile
                        + " did not issue the one before it; each must be followed by its issuer's");
            }
        }
        return new CertifiedKey(privateKey, certificates);
    }

    /// @param chainFile where the certificates are from, for the message
    /// @throws IllegalArgumentException when one of them is not valid at that time
    static void checkTimes(CertifiedKey key, Path chainFile, Instant now) {
        key.chain().forEach(each -> checkTime(each, chainFile, now));
    }

    private static List<X509Certificate> certificates(String text, Path file) {
        var converter = new JcaX509CertificateConverter();
        var found = new ArrayList<X509Certificate>();
        for (Object each : objects(text, file)) {
            if (!(each instanceof X509CertificateHolder holder)) {
                throw new IllegalArgumentException("the file " + file + " must hold certificates only, and has "
                        + (isKey(each) ? "a private key" : "something else") + " in it");
            }
            try {
                found.add(converter.getCertificate(holder));
            } catch (GeneralSecurityException e) {
                throw new IllegalArgumentException("a certificate in " + file + " cannot be read", e);
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("the file " + file + " holds no certificate in PEM");
        }
        return found;
    }

    private static PrivateKey privateKey(String text, Path file) {
        List<Object> found = objects(text, file);
        if (found.size() == 1 && found.getFirst() instanceof PrivateKeyInfo info) {
            try {
                return new JcaPEMKeyConverter().getPrivateKey(info);
            } catch (PEMException e) {
                throw new IllegalArgumentException(
                        "the key in " + file + " is of a kind that is not known here; take " + TlsKeyKind.FITTING, e);
            }
        }
        if (found.stream().anyMatch(CertifiedKeyPem::isEncrypted)) {
            throw new IllegalArgumentException("the key in " + file + " is encrypted, and nobody is asked for its"
                    + " passphrase here; `openssl pkcs8 -topk8 -nocrypt -in " + file
                    + "` writes it as it must be, to a file that its owner alone may read");
        }
        if (found.stream().anyMatch(CertifiedKeyPem::isKey)) {
            throw new IllegalArgumentException("the file " + file + " must hold one private key in PKCS#8 that is not"
                    + " encrypted, and nothing else; `openssl pkcs8 -topk8 -nocrypt -in " + file + "` writes it so");
        }
        throw new IllegalArgumentException("the file " + file + " holds no private key in PEM");
    }

    private static boolean isKey(Object pem) {
        return pem instanceof PrivateKeyInfo || pem instanceof PEMKeyPair || isEncrypted(pem);
    }

    private static boolean isEncrypted(Object pem) {
        return pem instanceof PKCS8EncryptedPrivateKeyInfo || pem instanceof PEMEncryptedKeyPair;
    }

    private static List<Object> objects(String text, Path file) {
        var found = new ArrayList<>();
        try (var pem = new PEMParser(new StringReader(text))) {
            for (Object each = pem.readObject(); each != null; each = pem.readObject()) {
                found.add(each);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("the file " + file + " is not PEM, or is damaged", e);
        }
        return found;
    }

    /// Whether what the key signs can be verified with the certificate.
    private static boolean belong(PrivateKey key, X509Certificate certificate) {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC", "ECDSA" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        var challenge = new byte[CHALLENGE_OCTETS];
        try {
            Signature signature = Signature.getInstance(algorithm);
            if (algorithm.equals(PSS)) {
                signature.setParameter(PSS_SHA256);
            }
            signature.initSign(key);
            signature.update(challenge);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(challenge);
            return signature.verify(signed);
        } catch (GeneralSecurityException _) {
            return false; // keys of two kinds
        }
    }

    private static void checkTime(X509Certificate certificate, Path file, Instant now) {
        Instant until = certificate.getNotAfter().toInstant();
        Instant from = certificate.getNotBefore().toInstant();
        if (now.isAfter(until) || now.isBefore(from)) {
            throw new IllegalArgumentException("the certificate of " + certificate.getSubjectX500Principal() + " in "
                    + file + (now.isAfter(until) ? " expired at " + until : " is not valid before " + from));
        }
    }

    private static boolean issued(X509Certificate issuer, X509Certificate certificate) {
        try {
            certificate.verify(issuer.getPublicKey());
            return certificate.getIssuerX500Principal().equals(issuer.getSubjectX500Principal());
        } catch (GeneralSecurityException _) {
            return false;
        }
    }

    /// @throws IllegalArgumentException when there is no such file, or it cannot be read
    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException("the file " + file + " does not exist or cannot be read as text", e);
        }
    }
}
