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
///
/// @param names the host names and IP addresses of the server that it is for; none if it is for no server
record SelfSigned(String commonName, Instant from, Instant until, Collection<String> names) {

    SelfSigned {
        names = List.copyOf(names);
    }

    /// The certificate.
    ///
    /// @param provider that of the private key, which signs
    X509Certificate sign(KeyPair pair, Provider provider, SecureRandom random)
            throws OperatorCreationException, GeneralSecurityException, IOException {
        var name = new X500Name("CN=" + commonName);
        var builder = new JcaX509v3CertificateBuilder(
                name, new BigInteger(64, random), Date.from(from), Date.from(until), name, pair.getPublic());
        if (!names.isEmpty()) {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
            builder.addExtension(
                    Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
            GeneralName[] alternatives =
                    names.stream().map(SelfSigned::alternative).toArray(GeneralName[]::new);
            builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(alternatives));
        }
        var signer = new JcaContentSignerBuilder("SHA256withECDSA")
                .setProvider(provider)
                .build(pair.getPrivate());
        return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
    }

    private static GeneralName alternative(String name) {
        String address = IpAddress.canonical(name);
        return address == null
                ? new GeneralName(GeneralName.dNSName, name)
                : new GeneralName(GeneralName.iPAddress, address);
    }
}
