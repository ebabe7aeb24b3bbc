package blackbox.gateway.tls;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// Whom the host trusts to say who a server is.
public final class HostTrust {
    private static final Path SYSTEM = Path.of("/etc/ssl/certs/ca-certificates.crt");

    private HostTrust() {}

    /// The system's bundle where there is one, else the JDK's.
    ///
    /// @param extra a PEM file of more authorities; null for none
    /// @throws IOException if a file cannot be read, naming it
    public static X509TrustManager of(@Nullable Path extra) throws IOException {
        return of(SYSTEM, extra);
    }

    static X509TrustManager of(Path system, @Nullable Path extra) throws IOException {
        try {
            var anchors = new ArrayList<X509Certificate>();
            anchors.addAll(Files.exists(system) ? read(system) : List.of(ofJdk().getAcceptedIssuers()));
            if (extra != null) {
                anchors.addAll(read(extra));
            }
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int at = 0; at < anchors.size(); at++) {
                store.setCertificateEntry("anchor-" + at, anchors.get(at));
            }
            return manager(store);
        } catch (GeneralSecurityException e) {
            throw new IOException("the authorities that the host trusts cannot be used: " + e.getMessage(), e);
        }
    }

    private static List<X509Certificate> read(Path file) throws IOException {
        Collection<? extends Certificate> found;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            found = CertificateFactory.getInstance("X.509").generateCertificates(in);
        } catch (NoSuchFileException e) {
            throw new IOException(file + " does not exist; it should hold certificates in PEM form", e);
        } catch (CertificateException e) {
            throw new IOException(file + " does not hold certificates in PEM form: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new IOException(file + " cannot be read: " + e.getMessage(), e);
        }
        if (found.isEmpty()) {
            throw new IOException(file + " holds no certificate; PEM form begins with -----BEGIN CERTIFICATE-----");
        }
        return found.stream().map(X509Certificate.class::cast).toList();
    }

    private static X509TrustManager ofJdk() throws GeneralSecurityException {
        return manager(null);
    }

    private static X509TrustManager manager(@Nullable KeyStore store) throws GeneralSecurityException {
        var factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return (X509TrustManager) factory.getTrustManagers()[0];
    }
}
