package blackbox.gateway.tls;

import blackbox.schemas.net.IpAddress;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/// The certificate authority of one run. Its keys (P-256) are in this process's memory only, and are forgotten with it.
/// Safe for use by several threads.
public final class RunAuthority {
    /// Clocks of guests differ, and a snapshot may have been made before.
    private static final Duration VALID_BEFORE = Duration.ofDays(1);

    private static final Duration VALID_FOR = Duration.ofDays(30);
    /// Of half of all signatures with P-256. A guest's programs read the certificate: in each run as many octets.
    private static final int SIGNATURE_BYTES = 71;

    private static final X500Name SUBJECT = new X500Name("CN=Blackbox egress gateway,O=Blackbox");
    private static final int CONTEXTS_MAX = 1_024;
    private static final int SESSIONS_MAX = 64;
    private static final int COMMON_NAME_MAX = 64;
    private static final int SERIAL_BITS = 127;
    private static final int PEM_LINE = 64;
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

    private record Server(String name, String protocol) {}

    private final SecureRandom random = new SecureRandom();
    private final Date notBefore;
    private final Date notAfter;
    private final KeyPair key;
    private final KeyPair leafKey;
    private final X509Certificate certificate;
    private final Map<Server, SslContext> contexts = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Server, SslContext> eldest) {
            return size() > CONTEXTS_MAX;
        }
    };

    /// Makes one, valid around `now`.
    public static RunAuthority create(Instant now) {
        try {
            return new RunAuthority(now);
        } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
            throw new IllegalStateException("this JVM cannot make a P-256 certificate", e);
        }
    }

    private RunAuthority(Instant now) throws GeneralSecurityException, CertIOException, OperatorCreationException {
        var generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), random);
        notBefore = Date.from(now.minus(VALID_BEFORE));
        notAfter = Date.from(now.plus(VALID_FOR));
        key = generator.generateKeyPair();
        leafKey = generator.generateKeyPair();
        var builder = builder(SUBJECT, key.getPublic())
                .addExtension(Extension.basicConstraints, true, new BasicConstraints(0))
                .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign));
        X509Certificate signed = sign((JcaX509v3CertificateBuilder) builder);
        while (signed.getSignature().length != SIGNATURE_BYTES) {
            signed = sign((JcaX509v3CertificateBuilder) builder);
        }
        certificate = signed;
    }

    /// What the guest is to trust.
    public X509Certificate certificate() {
        return certificate;
    }

    /// The same, as a PEM file has it (RFC 7468).
    public String pem() {
        try {
            var encoder = Base64.getMimeEncoder(PEM_LINE, "\n".getBytes(StandardCharsets.US_ASCII));
            return "-----BEGIN CERTIFICATE-----\n" + encoder.encodeToString(certificate.getEncoded())
                    + "\n-----END CERTIFICATE-----\n";
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a certificate that was just made has no encoding", e);
        }
    }

    /// TLS 1.2 and 1.3 as a server of this name, with a certificate that this authority signs. May take a millisecond.
    ///
    /// @param name a host name, or an address without brackets
    /// @param protocol that it speaks, as ALPN names it
    SslContext server(String name, String protocol) {
        synchronized (contexts) {
            return contexts.computeIfAbsent(new Server(name, protocol), server -> make(name, protocol));
        }
    }

    /// What is said by either side about the protocol in TLS: this one, or nothing.
    static ApplicationProtocolConfig alpn(String protocol) {
        return new ApplicationProtocolConfig(
                Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, protocol);
    }

    private SslContext make(String name, String protocol) {
        try {
            return SslContextBuilder.forServer(leafKey.getPrivate(), leaf(name), certificate)
                    .sslProvider(SslProvider.JDK)
                    .protocols(PROTOCOLS)
                    .applicationProtocolConfig(alpn(protocol))
                    .sessionCacheSize(SESSIONS_MAX)
                    .build();
        } catch (SSLException | GeneralSecurityException | CertIOException | OperatorCreationException e) {
            throw new IllegalStateException("no certificate can be made for " + name, e);
        }
    }

    private X509Certificate leaf(String name)
            throws GeneralSecurityException, CertIOException, OperatorCreationException {
        String address = IpAddress.canonical(name);
        var subject = new X500NameBuilder().addRDN(BCStyle.O, "Blackbox");
        if (name.length() <= COMMON_NAME_MAX) {
            subject.addRDN(BCStyle.CN, name);
        }
        var alternative = address == null
                ? new GeneralName(GeneralName.dNSName, name)
                : new GeneralName(GeneralName.iPAddress, address);
        var builder = builder(subject.build(), leafKey.getPublic())
                .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
                .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
                .addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth))
                .addExtension(Extension.subjectAlternativeName, false, new GeneralNames(alternative))
                .addExtension(
                        Extension.authorityKeyIdentifier,
                        false,
                        new JcaX509ExtensionUtils().createAuthorityKeyIdentifier(key.getPublic()));
        return sign((JcaX509v3CertificateBuilder) builder);
    }

    private JcaX509v3CertificateBuilder builder(X500Name subject, PublicKey of)
            throws GeneralSecurityException, CertIOException {
        var builder = new JcaX509v3CertificateBuilder(
                SUBJECT, new BigInteger(SERIAL_BITS, random).setBit(SERIAL_BITS - 1), notBefore, notAfter, subject, of);
        builder.addExtension(
                Extension.subjectKeyIdentifier, false, new JcaX509ExtensionUtils().createSubjectKeyIdentifier(of));
        return builder;
    }

    private X509Certificate sign(JcaX509v3CertificateBuilder builder)
            throws GeneralSecurityException, OperatorCreationException {
        var signer = new JcaContentSignerBuilder("SHA256withECDSA").build(key.getPrivate());
        return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
    }
}
