package blackbox.evidence.time;

import blackbox.evidence.time.TimeVerdict.Refused;
import blackbox.evidence.time.TimeVerdict.Stamped;
import blackbox.schemas.Hash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilder;
import java.security.cert.CertStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.ASN1Set;
import org.bouncycastle.asn1.DERNull;
import org.bouncycastle.asn1.cms.SignedData;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cms.SignerInformation;
import org.bouncycastle.cms.jcajce.JcaSimpleSignerInfoVerifierBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.tsp.TSPException;
import org.bouncycastle.tsp.TimeStampToken;
import org.bouncycastle.tsp.TimeStampTokenInfo;
import org.jspecify.annotations.Nullable;

/// The time-stamping authorities that are trusted, by certificate: roots, or an authority's own. Immutable.
///
/// A stamp is judged as of its own time, so that it still holds when the certificates have expired.
/// Revocation is not checked (that needs a network): to stop trusting an authority, remove it from the list.
public final class TimeAuthorities {

    private static final String TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
    private static final int PATH_MAX = 5;

    /// The accepted signature algorithms of a token (RFC 5754, RFC 5753), each with its digest; RSA's plain
    /// identifier goes with any digest. RSASSA-PSS is not accepted, because its parameters would need a
    /// parser of their own.
    private static final Map<String, String> SIGNATURES = Map.of(
            "1.2.840.113549.1.1.1", "",
            "1.2.840.113549.1.1.11", "SHA-256",
            "1.2.840.113549.1.1.12", "SHA-384",
            "1.2.840.113549.1.1.13", "SHA-512",
            "1.2.840.10045.4.3.2", "SHA-256",
            "1.2.840.10045.4.3.3", "SHA-384",
            "1.2.840.10045.4.3.4", "SHA-512");

    private static final Map<String, String> DIGESTS = Map.of(
            NISTObjectIdentifiers.id_sha256.getId(), "SHA-256",
            NISTObjectIdentifiers.id_sha384.getId(), "SHA-384",
            NISTObjectIdentifiers.id_sha512.getId(), "SHA-512");

    private final Set<X509Certificate> trusted;

    private TimeAuthorities(Collection<X509Certificate> trusted) {
        this.trusted = Set.copyOf(trusted);
    }

    /// Trusts `certificates`, whatever the policy of their stamps.
    public static TimeAuthorities of(Collection<X509Certificate> certificates) {
        return new TimeAuthorities(certificates);
    }

    /// Reads the certificates in a PEM or DER file's octets.
    ///
    /// @throws CertificateException when they hold none, or anything else
    public static List<X509Certificate> certificates(byte[] octets) throws CertificateException {
        Collection<? extends Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(octets));
        if (found.isEmpty()) {
            throw new CertificateException("there is no certificate");
        }
        return found.stream().map(X509Certificate.class::cast).toList();
    }

    /// Whether nobody is trusted.
    public boolean isEmpty() {
        return trusted.isEmpty();
    }

    /// Checks that a trusted authority stamped `imprint` in answer to `query`.
    public TimeVerdict verify(TimeToken token, TimeQuery query) {
        BigInteger nonce = token.token().getTimeStampInfo().getNonce();
        return query.nonce().equals(nonce)
                ? verify(token, query.imprint())
                : new Refused("the time stamp answers another query: its nonce is not the one in the request");
    }

    /// Checks that a trusted authority stamped `imprint`, the SHA-256 of the data in question.
    public TimeVerdict verify(TimeToken token, Hash imprint) {
        try {
            String wrong = wrongContent(token, imprint);
            if (wrong == null) {
                wrong = wrongForm(token.token());
            }
            X509CertificateHolder signer = token.signer();
            if (wrong == null && signer == null) {
                wrong = "the certificate of the time stamp's signer did not come with it";
            }
            if (wrong != null || signer == null) {
                return new Refused(String.valueOf(wrong));
            }
            X509Certificate certificate = x509(signer);
            wrong = wrongCertificate(certificate);
            if (wrong != null) {
                return new Refused(wrong);
            }
            requireTrusted(token, certificate);
            token.token().validate(new JcaSimpleSignerInfoVerifierBuilder().build(certificate));
            return stamped(token, certificate);
        } catch (TSPException | OperatorCreationException e) {
            return new Refused("the time stamp's signature does not hold: " + e.getMessage());
        } catch (GeneralSecurityException e) {
            return new Refused("the time stamp's signer is not trusted as of the stamp's time: " + e.getMessage());
        } catch (IOException | RuntimeException e) {
            return new Refused("the time stamp cannot be read: " + e.getMessage());
        }
    }

    private static Stamped stamped(TimeToken token, X509Certificate certificate) {
        TimeStampTokenInfo info = token.token().getTimeStampInfo();
        return new Stamped(
                token.time(),
                token.accuracy(),
                certificate.getSubjectX500Principal().getName(),
                info.getSerialNumber(),
                info.getPolicy().getId());
    }

    /// What is wrong with the token's content; null if nothing is.
    private static @Nullable String wrongContent(TimeToken token, Hash imprint) {
        TimeStampTokenInfo info = token.token().getTimeStampInfo();
        AlgorithmIdentifier hash = info.getHashAlgorithm();
        if (!hash.getAlgorithm().equals(NISTObjectIdentifiers.id_sha256) || !hasNoParameters(hash)) {
            return "the time stamp is not over a SHA-256 hash";
        }
        if (!Arrays.equals(info.getMessageImprintDigest(), imprint.toBytes())) {
            return "the time stamp is for other data";
        }
        if (!info.toASN1Structure().getVersion().hasValue(1)) {
            return "the time stamp is not of version 1";
        }
        if (info.getExtensions() != null && info.getExtensions().getCriticalExtensionOIDs().length > 0) {
            return "the time stamp has critical extensions, none of which is supported";
        }
        return null;
    }

    /// What is wrong with the parts of the token that no signature covers; null if nothing is.
    private static @Nullable String wrongForm(TimeStampToken token) {
        SignedData data =
                SignedData.getInstance(token.toCMSSignedData().toASN1Structure().getContent());
        SignerInformation signer =
                token.toCMSSignedData().getSignerInfos().getSigners().iterator().next();
        AlgorithmIdentifier digest = signer.getDigestAlgorithmID();
        String digestName = DIGESTS.get(digest.getAlgorithm().getId());
        if (!data.getVersion().hasValue(3)
                || signer.getVersion() != (signer.getSID().getIssuer() == null ? 3 : 1)) {
            return "the time stamp's CMS version does not match its content";
        }
        if (!(data.getEncapContentInfo().getContent() instanceof ASN1OctetString)) {
            return "the time stamp's content is not an octet string";
        }
        ASN1Set digests = data.getDigestAlgorithms();
        if (digestName == null || !hasNoParameters(digest) || digests.size() != 1) {
            return "the time stamp's digest is not SHA-256, SHA-384 or SHA-512";
        }
        AlgorithmIdentifier announced = AlgorithmIdentifier.getInstance(digests.getObjectAt(0));
        if (!announced.getAlgorithm().equals(digest.getAlgorithm()) || !hasNoParameters(announced)) {
            return "the time stamp announces a digest other than its signer's";
        }
        AlgorithmIdentifier signature = signer.toASN1Structure().getDigestEncryptionAlgorithm();
        String fits = SIGNATURES.get(signature.getAlgorithm().getId());
        if (fits == null || !hasNoParameters(signature) || !fits.isEmpty() && !fits.equals(digestName)) {
            return "the time stamp is signed with an algorithm that is not accepted: "
                    + signature.getAlgorithm().getId() + " over " + digestName;
        }
        return null;
    }

    private static boolean hasNoParameters(AlgorithmIdentifier algorithm) {
        return algorithm.getParameters() == null || algorithm.getParameters().equals(DERNull.INSTANCE);
    }

    /// RFC 3161, section 2.3: the certificate is for time stamping alone and says so in a critical extension.
    private static @Nullable String wrongCertificate(X509Certificate certificate) throws CertificateException {
        Set<String> critical = certificate.getCriticalExtensionOIDs();
        if (!List.of(TIME_STAMPING).equals(certificate.getExtendedKeyUsage())
                || critical == null
                || !critical.contains("2.5.29.37")) {
            return "the time stamp's signer has no certificate for time stamping alone";
        }
        boolean[] usage = certificate.getKeyUsage();
        return usage == null || usage[0] || usage[1]
                ? null
                : "the certificate of the time stamp's signer does not allow signatures";
    }

    /// @throws GeneralSecurityException when no path leads from the signer to a trusted certificate, or a certificate
    ///     on it was not valid at the stamp's time
    private void requireTrusted(TimeToken token, X509Certificate signer) throws GeneralSecurityException, IOException {
        Date then = Date.from(token.time());
        signer.checkValidity(then);
        if (trusted.contains(signer)) {
            return;
        }
        if (trusted.isEmpty()) {
            throw new GeneralSecurityException("no time authority is trusted");
        }
        var target = new X509CertSelector();
        target.setCertificate(signer);
        var parameters = new PKIXBuilderParameters(
                trusted.stream().map(root -> new TrustAnchor(root, null)).collect(Collectors.toSet()), target);
        parameters.addCertStore(
                CertStore.getInstance("Collection", new CollectionCertStoreParameters(token.certificates())));
        parameters.setDate(then);
        parameters.setRevocationEnabled(false);
        parameters.setMaxPathLength(PATH_MAX);
        CertPathBuilder.getInstance("PKIX").build(parameters);
    }

    private static X509Certificate x509(X509CertificateHolder holder) throws CertificateException, IOException {
        return (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(holder.getEncoded()));
    }
}
