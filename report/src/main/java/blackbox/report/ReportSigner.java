package blackbox.report;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.time.TimeToken;
import blackbox.evidence.time.TimeVerdict;
import blackbox.recorder.anchor.TimeStamps;
import blackbox.recorder.keys.CertifiedKey;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bouncycastle.asn1.ASN1Encoding;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1Primitive;
import org.bouncycastle.asn1.DERSet;
import org.bouncycastle.asn1.cms.Attribute;
import org.bouncycastle.asn1.cms.AttributeTable;
import org.bouncycastle.asn1.cms.CMSAttributes;
import org.bouncycastle.asn1.cms.CMSObjectIdentifiers;
import org.bouncycastle.asn1.ess.ESSCertIDv2;
import org.bouncycastle.asn1.ess.SigningCertificateV2;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.cert.jcajce.JcaCertStore;
import org.bouncycastle.cms.CMSException;
import org.bouncycastle.cms.CMSSignedData;
import org.bouncycastle.cms.CMSSignedDataGenerator;
import org.bouncycastle.cms.CMSTypedData;
import org.bouncycastle.cms.DefaultSignedAttributeTableGenerator;
import org.bouncycastle.cms.SignerInformation;
import org.bouncycastle.cms.SignerInformationStore;
import org.bouncycastle.cms.jcajce.JcaSignerInfoGeneratorBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaDigestCalculatorProviderBuilder;
import org.jspecify.annotations.Nullable;

/// Signs the octets of a report as PAdES baseline (ETSI EN 319 142-1): a detached CMS signature that names
/// its certificate, at level B-T where an authority stamps its time, and B-B where none is asked.
///
/// @param authorities the addresses of those that are asked in turn, until one answers; may be empty
/// @param stamps asks them
public record ReportSigner(CertifiedKey key, List<URI> authorities, TimeStamps stamps) {

    public ReportSigner {
        authorities = List.copyOf(authorities);
    }

    /// A signature.
    ///
    /// @param stamp what an authority says of its time; null if none was asked
    record Signature(byte[] cms, TimeVerdict.@Nullable Stamped stamp) {}

    /// @param content is closed
    /// @throws ReportException when the key cannot sign, or no authority stamps the signature
    Signature sign(InputStream content) throws IOException, ReportException {
        CMSSignedData signed = signed(content);
        if (authorities.isEmpty()) {
            return new Signature(encoded(signed), null);
        }
        SignerInformation signer = signerOf(signed);
        TimeStamps.Outcome.Stamped stamped = stamped(Hash.sha256(signer.getSignature()));
        byte[] cms = encoded(with(signed, signer, stamped.token()));
        requireStamp(cms, signer.getSignature(), stamped.token());
        return new Signature(cms, stamped.verdict());
    }

    private static SignerInformation signerOf(CMSSignedData signed) {
        return signed.getSignerInfos().getSigners().iterator().next();
    }

    /// The stamp in what is written is the one that was checked, octet for octet, and over what was
    /// stamped.
    private static void requireStamp(byte[] cms, byte[] signature, TimeToken token)
            throws IOException, ReportException {
        try {
            SignerInformation written = signerOf(new CMSSignedData(cms));
            Attribute stamp = written.getUnsignedAttributes().get(PKCSObjectIdentifiers.id_aa_signatureTimeStampToken);
            byte[] inside = stamp.getAttributeValues()[0].toASN1Primitive().getEncoded();
            if (Arrays.equals(inside, token.encoded()) && Arrays.equals(written.getSignature(), signature)) {
                return;
            }
        } catch (CMSException e) {
            throw new ReportException("the signature with its time stamp cannot be read again: " + e.getMessage(), e);
        }
        throw new ReportException(
                "the time authority's stamp is not in the form of DER, so it would be changed by being"
                        + " put into the signature; take another authority with --tsa");
    }

    /// Why a report cannot be signed with such a key; null if it can.
    public static @Nullable String unfit(CertifiedKey key) {
        PublicKey certified = key.chain().getFirst().getPublicKey();
        return algorithm(certified) != null
                ? null
                : "a report is signed with an RSA or ECDSA key, which readers of PDF can check; this one is of the kind "
                        + certified.getAlgorithm();
    }

    /// SHA-256 with a key of this kind; null if it is none for reports.
    private static @Nullable String algorithm(PublicKey key) {
        return switch (key.getAlgorithm()) {
            case "EC", "ECDSA" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> null;
        };
    }

    private CMSSignedData signed(InputStream content) throws ReportException {
        X509Certificate certificate = key.chain().getFirst();
        try {
            var essential =
                    new SigningCertificateV2(new ESSCertIDv2(Sha256.digest().digest(certificate.getEncoded())));
            var named = new AttributeTable(
                    new Attribute(PKCSObjectIdentifiers.id_aa_signingCertificateV2, new DERSet(essential)));
            var attributes = new DefaultSignedAttributeTableGenerator(named);
            // The time that is claimed is in the PDF's own dictionary: ETSI EN 319 142-1, section 6.3.
            var builder = new JcaSignerInfoGeneratorBuilder(new JcaDigestCalculatorProviderBuilder()
                            .setProvider(CryptoProvider.current().bouncyCastle())
                            .build())
                    .setSignedAttributeGenerator(
                            parameters -> attributes.getAttributes(parameters).remove(CMSAttributes.signingTime));
            var generator = new CMSSignedDataGenerator();
            String algorithm = algorithm(certificate.getPublicKey());
            if (algorithm == null) {
                throw new ReportException(String.valueOf(unfit(key)));
            }
            var signer = new JcaContentSignerBuilder(algorithm);
            if (CryptoProvider.current().isFips()) {
                signer.setProvider(CryptoProvider.current().bouncyCastle());
            }
            generator.addSignerInfoGenerator(builder.build(signer.build(key.key()), certificate));
            generator.addCertificates(new JcaCertStore(key.chain()));
            return generator.generate(new Content(content), false);
        } catch (GeneralSecurityException | OperatorCreationException | CMSException e) {
            throw new ReportException("the report cannot be signed with " + key + ": " + e.getMessage(), e);
        }
    }

    private TimeStamps.Outcome.Stamped stamped(Hash imprint) throws IOException, ReportException {
        var failures = new ArrayList<String>();
        try {
            for (URI each : authorities) {
                switch (stamps.ask(each, imprint)) {
                    case TimeStamps.Outcome.Stamped stamped -> {
                        return stamped;
                    }
                    case TimeStamps.Outcome.Failed(String why) -> failures.add(why);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a time authority was asked");
        }
        throw new ReportException("no time authority stamped the report, so none was written: "
                + String.join("; ", failures) + ". --no-time-stamp writes one whose time only this host vouches for");
    }

    private static CMSSignedData with(CMSSignedData signed, SignerInformation signer, TimeToken token)
            throws IOException {
        var attribute = new Attribute(
                PKCSObjectIdentifiers.id_aa_signatureTimeStampToken,
                new DERSet(ASN1Primitive.fromByteArray(token.encoded())));
        SignerInformation stamped = SignerInformation.replaceUnsignedAttributes(signer, new AttributeTable(attribute));
        return CMSSignedData.replaceSigners(signed, new SignerInformationStore(stamped));
    }

    /// Of definite length, with sets in the order in which they are: an authority's token is not to be
    /// changed.
    private static byte[] encoded(CMSSignedData signed) throws IOException {
        return signed.toASN1Structure().getEncoded(ASN1Encoding.DL);
    }

    /// What is signed, read once.
    private record Content(InputStream octets) implements CMSTypedData {
        @Override
        public ASN1ObjectIdentifier getContentType() {
            return CMSObjectIdentifiers.data;
        }

        @Override
        public Object getContent() {
            return octets;
        }

        @Override
        public void write(OutputStream to) throws IOException {
            try (octets) {
                octets.transferTo(to);
            }
        }
    }
}
