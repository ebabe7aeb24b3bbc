package blackbox.recorder.keys;

import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/// What a certificate says that an ECDSA key signs for itself.
record SelfSigned(String commonName, Instant from, Instant until, Purpose purpose) {

    /// What the key may be used for.
    sealed interface Purpose {

        /// Anything; the certificate is only the form in which the public key is kept.
        record Any() implements Purpose {}

        /// To prove a server's identity.
        ///
        /// @param names its host names and IP addresses
        record Server(Collection<String> names) implements Purpose {
            public Server {
                names = List.copyOf(names);
            }
        }

        /// To sign documents (RFC 9336).
        record Documents() implements Purpose {}
    }

    /// id-kp-documentSigning.
    private static final KeyPurposeId DOCUMENTS =
            KeyPurposeId.getInstance(new ASN1ObjectIdentifier("1.3.6.1.5.5.7.3.36"));

    /// The certificate.
    ///
    /// @param provider that of the private key, which signs
    X509Certificate sign(KeyPair pair, Provider provider, SecureRandom random)
            throws OperatorCreationException, GeneralSecurityException, IOException {
        var name = new X500Name("CN=" + commonName);
        var builder = new JcaX509v3CertificateBuilder(
                name, new BigInteger(64, random), Date.from(from), Date.from(until), name, pair.getPublic());
        switch (purpose) {
            case Purpose.Any _ -> {}
            case Purpose.Server(Collection<String> names) -> {
                restrict(builder, KeyUsage.digitalSignature, KeyPurposeId.id_kp_serverAuth);
                GeneralName[] alternatives =
                        names.stream().map(SelfSigned::alternative).toArray(GeneralName[]::new);
                builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(alternatives));
            }
            case Purpose.Documents _ ->
                restrict(builder, KeyUsage.digitalSignature | KeyUsage.nonRepudiation, DOCUMENTS);
        }
        var signer = new JcaContentSignerBuilder("SHA256withECDSA")
                .setProvider(provider)
                .build(pair.getPrivate());
        return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
    }

    private static void restrict(JcaX509v3CertificateBuilder builder, int usage, KeyPurposeId purpose)
            throws IOException {
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(usage));
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
    }

    private static GeneralName alternative(String name) {
        String address = IpAddress.canonical(name);
        return address == null
                ? new GeneralName(GeneralName.dNSName, name)
                : new GeneralName(GeneralName.iPAddress, address);
    }
}
