package blackbox.node.serve;

import blackbox.recorder.keys.CertifiedKey;
import io.micronaut.context.ApplicationContext;
import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.http.ssl.CertificateProvider;
import io.micronaut.inject.qualifiers.Qualifiers;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.reactivestreams.Publisher;

/// How the service speaks TLS: 1.3, or 1.2 with clients that know nothing newer, and only ciphers with forward
/// secrecy and authenticated encryption. [RequestDeadline] applies from a connection's first moment, and the
/// handshake has a time-out of its own as well.
final class ApiTls {

    private static final String NAME = "api";

    private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

    private static final List<String> CIPHERS = List.of(
            "TLS_AES_256_GCM_SHA384",
            "TLS_AES_128_GCM_SHA256",
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

    /// Otherwise a client could request handshake after handshake in TLS 1.2. The JDK reads this property once, at
    /// the process's first handshake, so the program's start sets it: here it may already be too late.
    private static final String NO_RENEGOTIATION = "jdk.tls.rejectClientInitiatedRenegotiation";

    private ApiTls() {}

    /// Micronaut's settings.
    ///
    /// @param port -1 for any
    /// @throws IllegalStateException if the JVM was not told to refuse renegotiation
    static Map<String, Object> properties(int port, Duration patience) {
        if (!Boolean.getBoolean(NO_RENEGOTIATION)) {
            throw new IllegalStateException("TLS needs a JVM started with -D" + NO_RENEGOTIATION + "=true");
        }
        return Map.of(
                "micronaut.server.ssl.enabled", true,
                "micronaut.server.ssl.port", port,
                "micronaut.server.ssl.key-name", NAME,
                "micronaut.server.ssl.protocols", PROTOCOLS,
                "micronaut.server.ssl.ciphers", CIPHERS,
                "micronaut.server.ssl.prefer-openssl", false,
                "micronaut.server.ssl.handshake-timeout", patience);
    }

    /// Gives the server its key. Must be called before the server is created.
    static void offer(CertifiedKey key, ApplicationContext application) throws IOException {
        KeyStore store = keyStore(key);
        application.registerSingleton(CertificateProvider.class, new Fixed(store), Qualifiers.byName(NAME));
    }

    private static KeyStore keyStore(CertifiedKey key) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(NAME, key.key(), new char[0], key.chain().toArray(Certificate[]::new));
            return store;
        } catch (GeneralSecurityException e) {
            throw new IOException("the TLS key cannot be used: " + e.getMessage(), e);
        }
    }

    private record Fixed(KeyStore store) implements CertificateProvider {

        @Override
        public Publisher<KeyStore> getKeyStore() {
            return Publishers.just(store);
        }

        @Override
        public String getName() {
            return NAME;
        }
    }
}
