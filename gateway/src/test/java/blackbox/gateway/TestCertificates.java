package blackbox.gateway;

import blackbox.schemas.net.IpAddress;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/// The authority of a test's servers, which a gateway can be told to trust.
public final class TestCertificates {
    private static final X500Name ISSUER = new X500Name("CN=servers");
    /// The ages of certificates are counted from here.
    private static Instant now() {
        return Instant.now();
    }

    private final KeyPair key = pair();
    private final X509Certificate certificate =
            sign(ISSUER, key, key.getPrivate(), null, now().plus(Duration.ofDays(1)));

    private static KeyPair pair() {
        try {
            var generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static X509Certificate sign(
            X500Name subject, KeyPair of, PrivateKey by, @Nullable String name, Instant until) {
        try {
            var builder = new JcaX509v3CertificateBuilder(
                    name == null ? subject : ISSUER,
                    BigInteger.valueOf(System.nanoTime()),
                    Date.from(now().minus(Duration.ofDays(9))),
                    Date.from(until),
                    subject,
                    of.getPublic());
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(name == null));
            if (name != null) {
                int kind = IpAddress.canonical(name) == null ? GeneralName.dNSName : GeneralName.iPAddress;
                builder.addExtension(
                        Extension.subjectAlternativeName, false, new GeneralNames(new GeneralName(kind, name)));
            }
            return new JcaX509CertificateConverter()
                    .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(by)));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public X509TrustManager trust() {
        return trusting(certificate);
    }

    /// TLS as the server of a name.
    public SSLContext server(String name) {
        return server(name, now().plus(Duration.ofDays(1)));
    }

    SSLContext server(String name, Instant until) {
        KeyPair leaf = pair();
        return context(leaf, sign(new X500Name("CN=server"), leaf, key.getPrivate(), name, until));
    }

    SSLContext expired(String name) {
        return server(name, now().minus(Duration.ofDays(2)));
    }

    /// Whom nobody has certified.
    static SSLContext selfSigned(String name) {
        KeyPair leaf = pair();
        return context(leaf, sign(ISSUER, leaf, leaf.getPrivate(), name, now().plus(Duration.ofDays(1))));
    }

    private static SSLContext context(KeyPair leaf, X509Certificate of) {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("server", leaf.getPrivate(), new char[0], new X509Certificate[] {of});
            var keys = KeyManagerFactory.getInstance("PKIX");
            keys.init(store, new char[0]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /// TLS as a client that trusts one authority.
    public static SSLContext client(X509Certificate authority) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new X509TrustManager[] {trusting(authority)}, null);
            return context;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static X509TrustManager trusting(X509Certificate authority) {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setCertificateEntry("authority", authority);
            var factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(store);
            return (X509TrustManager) factory.getTrustManagers()[0];
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
