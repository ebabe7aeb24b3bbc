package blackbox.evidence.time;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.ASN1EncodableVector;
import org.bouncycastle.asn1.ASN1GeneralizedTime;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1Primitive;
import org.bouncycastle.asn1.DERBitString;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.DERSet;
import org.bouncycastle.asn1.DERUTF8String;
import org.bouncycastle.asn1.cms.Attribute;
import org.bouncycastle.asn1.cms.AttributeTable;
import org.bouncycastle.asn1.cms.CMSAttributes;
import org.bouncycastle.asn1.cms.Time;
import org.bouncycastle.asn1.ess.ESSCertIDv2;
import org.bouncycastle.asn1.ess.SigningCertificateV2;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.tsp.Accuracy;
import org.bouncycastle.asn1.tsp.MessageImprint;
import org.bouncycastle.asn1.tsp.TSTInfo;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.jcajce.JcaCertStore;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.cms.CMSException;
import org.bouncycastle.cms.CMSProcessableByteArray;
import org.bouncycastle.cms.CMSSignedDataGenerator;
import org.bouncycastle.cms.DefaultSignedAttributeTableGenerator;
import org.bouncycastle.cms.SimpleAttributeTableGenerator;
import org.bouncycastle.cms.jcajce.JcaSignerInfoGeneratorBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaDigestCalculatorProviderBuilder;
import org.bouncycastle.tsp.TimeStampRequest;
import org.jspecify.annotations.Nullable;

/// A time-stamping authority in this process: a root, an authority below it, and below that the one that stamps.
/// It can also do what no honest authority does.
public final class TestTimeAuthority {

    /// The policy that every stamp names.
    public static final String POLICY = "1.3.6.1.4.1.32473.1";

    private static final ASN1ObjectIdentifier TST_INFO = PKCSObjectIdentifiers.id_ct_TSTInfo;
    private static final Instant LATE = Instant.parse("2090-01-01T00:00:00Z");

    /// The kind of its keys.
    public enum Algorithm {
        RSA("RSA", 2048, "SHA256withRSA"),
        ECDSA("EC", 256, "SHA256withECDSA");

        private final String keys;
        private final int bits;
        private final String signature;

        Algorithm(String keys, int bits, String signature) {
            this.keys = keys;
            this.bits = bits;
            this.signature = signature;
        }
    }

    /// What the certificate of the one that stamps is for.
    enum Purpose {
        TIME_STAMPING,
        TIME_STAMPING_NOT_CRITICAL,
        TIME_STAMPING_AND_MORE,
        SERVERS,
        UNSAID
    }

    private record Issuer(X500Principal name, KeyPair key) {}

    private final Algorithm algorithm;
    private final KeyPair key;
    private final X509Certificate root;
    private final X509Certificate certificate;
    private final X509Certificate middle;
    private long serial = 1000;

    private TestTimeAuthority(
            Algorithm algorithm,
            KeyPair key,
            X509Certificate root,
            X509Certificate middle,
            X509Certificate certificate) {
        this.algorithm = algorithm;
        this.key = key;
        this.root = root;
        this.middle = middle;
        this.certificate = certificate;
    }

    /// An authority whose certificates hold until 2090.
    public static TestTimeAuthority create(Algorithm algorithm) {
        return create(algorithm, Purpose.TIME_STAMPING, LATE);
    }

    static TestTimeAuthority create(Algorithm algorithm, Purpose purpose, Instant until) {
        try {
            var rootIssuer = new Issuer(new X500Principal("CN=Test Root"), newKey(algorithm));
            var middleIssuer = new Issuer(new X500Principal("CN=Test Authority"), newKey(algorithm));
            KeyPair key = newKey(algorithm);
            X509Certificate root = certify(algorithm, rootIssuer, rootIssuer, LATE, null);
            X509Certificate middle = certify(algorithm, rootIssuer, middleIssuer, LATE, null);
            var name = new X500Principal("CN=Test Time Stamps");
            X509Certificate certificate = certify(algorithm, middleIssuer, new Issuer(name, key), until, purpose);
            return new TestTimeAuthority(algorithm, key, root, middle, certificate);
        } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair newKey(Algorithm algorithm) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm.keys);
        generator.initialize(algorithm.bits);
        return generator.generateKeyPair();
    }

    private static X509Certificate certify(
            Algorithm algorithm, Issuer issuer, Issuer subject, Instant until, @Nullable Purpose purpose)
            throws GeneralSecurityException, OperatorCreationException, IOException {
        var builder = new JcaX509v3CertificateBuilder(
                issuer.name(),
                BigInteger.valueOf(subject.name().getName().length()),
                Date.from(Instant.parse("2020-01-01T00:00:00Z")),
                Date.from(until),
                subject.name(),
                subject.key().getPublic());
        if (purpose == null) {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
        } else {
            addPurpose(builder, purpose);
        }
        var signer = new JcaContentSignerBuilder(algorithm.signature)
                .build(issuer.key().getPrivate());
        return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
    }

    private static void addPurpose(JcaX509v3CertificateBuilder builder, Purpose purpose) throws IOException {
        KeyPurposeId[] ids = switch (purpose) {
            case TIME_STAMPING, TIME_STAMPING_NOT_CRITICAL -> new KeyPurposeId[] {KeyPurposeId.id_kp_timeStamping};
            case TIME_STAMPING_AND_MORE ->
                new KeyPurposeId[] {KeyPurposeId.id_kp_timeStamping, KeyPurposeId.id_kp_codeSigning};
            case SERVERS -> new KeyPurposeId[] {KeyPurposeId.id_kp_serverAuth};
            case UNSAID -> new KeyPurposeId[0];
        };
        if (ids.length > 0) {
            boolean critical = purpose != Purpose.TIME_STAMPING_NOT_CRITICAL;
            builder.addExtension(Extension.extendedKeyUsage, critical, new ExtendedKeyUsage(ids));
        }
    }

    /// What to trust.
    public X509Certificate root() {
        return root;
    }

    X509Certificate certificate() {
        return certificate;
    }

    /// The root in PEM.
    public String rootPem() {
        try {
            return "-----BEGIN CERTIFICATE-----\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(root.getEncoded())
                    + "\n-----END CERTIFICATE-----\n";
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Answers the octets of a query, at `now` by its clock.
    public byte[] answer(byte[] query, Instant now) {
        try {
            var request = new TimeStampRequest(query);
            byte[] token =
                    stamp(Hash.copyOf(request.getMessageImprintDigest(), 0), request.getNonce(), now, List.of(), false);
            return response(0, token);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /// A response with any status and a token, which an honest authority gives with status 0 and 1 alone.
    static byte[] response(int status, byte[] token) throws IOException {
        var info = new DERSequence(new ASN1Integer(status));
        var parts = new ASN1EncodableVector();
        parts.add(info);
        parts.add(ASN1Primitive.fromByteArray(token));
        return new DERSequence(parts).getEncoded();
    }

    /// A response without a token, with a text and a failure bit.
    public static byte[] refusal(int status, String text, int failureBit) {
        var octets = new byte[failureBit / 8 + 1];
        octets[failureBit / 8] = (byte) (0x80 >>> failureBit % 8);
        var info = new ASN1EncodableVector();
        info.add(new ASN1Integer(status));
        info.add(new DERSequence(new DERUTF8String(text)));
        info.add(new DERBitString(octets, 7 - failureBit % 8));
        try {
            return new DERSequence(new DERSequence(info)).getEncoded();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// A token that says what it is told to say.
    ///
    /// @param surplus certificates to send that are on no path
    byte[] stamp(
            Hash imprint, BigInteger nonce, Instant time, List<X509Certificate> surplus, boolean unsignedAttributes)
            throws IOException {
        try {
            var generator = new CMSSignedDataGenerator();
            var attributes = new ASN1EncodableVector();
            var id = new ESSCertIDv2(Hash.sha256(certificate.getEncoded()).toBytes());
            attributes.add(new Attribute(
                    PKCSObjectIdentifiers.id_aa_signingCertificateV2, new DERSet(new SigningCertificateV2(id))));
            attributes.add(new Attribute(CMSAttributes.signingTime, new DERSet(new Time(Date.from(time)))));
            var signed = new AttributeTable(attributes);
            var signer = new JcaSignerInfoGeneratorBuilder(new JcaDigestCalculatorProviderBuilder().build())
                    .setSignedAttributeGenerator(new DefaultSignedAttributeTableGenerator(signed));
            if (unsignedAttributes) {
                signer.setUnsignedAttributeGenerator(new SimpleAttributeTableGenerator(new AttributeTable(
                        new DERSet(new Attribute(TST_INFO, new DERSet(new DERUTF8String("anything at all")))))));
            }
            generator.addSignerInfoGenerator(signer.build(
                    new JcaContentSignerBuilder(algorithm.signature).build(key.getPrivate()), certificate));
            generator.addCertificates(new JcaCertStore(List.of(certificate, middle)));
            generator.addCertificates(new JcaCertStore(surplus));
            var content = new CMSProcessableByteArray(
                    TST_INFO, info(imprint, nonce, time).getEncoded());
            return generator.generate(content, true).toASN1Structure().getEncoded("DER");
        } catch (GeneralSecurityException | OperatorCreationException | CMSException e) {
            throw new IllegalStateException(e);
        }
    }

    private TSTInfo info(Hash imprint, BigInteger nonce, Instant time) {
        return new TSTInfo(
                new ASN1ObjectIdentifier(POLICY),
                new MessageImprint(new AlgorithmIdentifier(NISTObjectIdentifiers.id_sha256), imprint.toBytes()),
                new ASN1Integer(serial++),
                new ASN1GeneralizedTime(time.toString().replaceAll("[-:T]", "")),
                new Accuracy(new ASN1Integer(1), new ASN1Integer(500), null),
                null,
                new ASN1Integer(nonce),
                null,
                null);
    }
}
