package blackbox.recorder.keys;

import blackbox.evidence.sign.EcdsaVerifier;
import blackbox.recorder.RecorderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AuthProvider;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.ProviderException;
import java.security.Security;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SequencedMap;
import javax.security.auth.login.LoginException;
import org.bouncycastle.operator.OperatorCreationException;

/// Keys in a PKCS#11 token, through the JDK's SunPKCS11: ECDSA P-256, generated in the token, sensitive and
/// not extractable. The token's PIN comes from [Secrets].
///
/// JCA finds a token's keys by their certificates, so each key gets a self-signed one that nobody checks.
final class Pkcs11KeyStore implements LogKeyStore {

    /// The token's PKCS#11 library.
    static final String MODULE = "module";

    /// The slot's number, as `softhsm2-util --show-slots` or `pkcs11-tool --list-slots` shows it.
    static final String SLOT = "slot";

    private static final String ALIAS = "alias";

    private final KeyAccess access;

    Pkcs11KeyStore(KeyAccess access) {
        this.access = access;
    }

    /// A token that is unlocked with its PIN.
    private record Token(Provider provider, KeyStore keys) implements AutoCloseable {
        @Override
        public void close() throws LoginException {
            ((AuthProvider) provider).logout();
        }
    }

    @Override
    public Opened create(String origin, SequencedMap<String, String> settings) throws RecorderException {
        try {
            Token token = open(settings);
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC", token.provider());
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            EcdsaVerifier verifier = EcdsaVerifier.of(origin, pair.getPublic());
            String alias = origin.replace('/', '-') + String.format("-%08x", verifier.keyId());
            Instant now = access.clock().instant();
            var said = new SelfSigned("Blackbox log key", now, now, new SelfSigned.Purpose.Any());
            Certificate[] chain = {said.sign(pair, token.provider(), access.random())};
            token.keys().setKeyEntry(alias, pair.getPrivate(), null, chain);
            var written = new LinkedHashMap<>(settings);
            written.put(ALIAS, alias);
            return opened(origin, token, written);
        } catch (GeneralSecurityException
                | IOException
                | OperatorCreationException
                | ProviderException
                | IllegalArgumentException e) {
            throw LogKeyStore.failed("cannot create a key in the PKCS#11 token", e);
        }
    }

    @Override
    public Opened open(LogKeyConf conf) throws RecorderException {
        try {
            return opened(conf.origin(), open(conf.settings()), conf.settings());
        } catch (GeneralSecurityException | IOException | ProviderException e) {
            throw LogKeyStore.failed("cannot open the key in the PKCS#11 token", e);
        }
    }

    private static Opened opened(String origin, Token token, SequencedMap<String, String> settings)
            throws GeneralSecurityException, IOException {
        String alias = required(settings, ALIAS);
        Certificate certificate = token.keys().getCertificate(alias);
        if (!(token.keys().getKey(alias, null) instanceof PrivateKey key) || certificate == null) {
            throw new IOException("the token has no key '" + alias + "'");
        }
        EcdsaVerifier verifier = EcdsaVerifier.of(origin, certificate.getPublicKey());
        var signer = new DeviceKey(verifier, digest -> sign(token.provider(), key, digest));
        return new Opened(List.of(signer), settings, token);
    }

    private static byte[] sign(Provider provider, PrivateKey key, byte[] digest) throws RecorderException {
        try {
            Signature signature = Signature.getInstance("NONEwithECDSA", provider);
            signature.initSign(key);
            signature.update(digest);
            return signature.sign();
        } catch (GeneralSecurityException | ProviderException e) {
            throw LogKeyStore.failed("the PKCS#11 token did not sign", e);
        }
    }

    @Override
    public void destroy(LogKeyConf conf) throws RecorderException {
        try {
            open(conf.settings()).keys().deleteEntry(required(conf.settings(), ALIAS));
        } catch (GeneralSecurityException | IOException | ProviderException e) {
            throw LogKeyStore.failed("cannot delete the old key in the PKCS#11 token", e);
        }
    }

    private Token open(SequencedMap<String, String> settings)
            throws GeneralSecurityException, IOException, RecorderException {
        Provider provider = provider(settings);
        KeyStore keys = KeyStore.getInstance("PKCS11", provider);
        char[] pin = access.secrets().read(Secrets.PIN, "PIN of the PKCS#11 token");
        try {
            keys.load(null, pin);
        } finally {
            Arrays.fill(pin, '\0');
        }
        return new Token(provider, keys);
    }

    /// A provider of our own for this token; it is not registered with `java.security`.
    private static Provider provider(SequencedMap<String, String> settings) throws IOException {
        String module = required(settings, MODULE);
        String slot = required(settings, SLOT);
        if (!Files.isReadable(Path.of(module)) || module.indexOf('"') >= 0 || module.indexOf('\n') >= 0) {
            throw new IOException("there is no PKCS#11 library " + module);
        }
        if (!slot.matches("[0-9]{1,19}")) {
            throw new IOException("a slot is a number, not '" + slot + "'");
        }
        Provider sun = Objects.requireNonNull(Security.getProvider("SunPKCS11"), "this Java runtime has no SunPKCS11");
        return sun.configure(String.format(Locale.ROOT, """
                --name = blackbox
                library = "%s"
                slot = %s
                attributes(generate, CKO_PRIVATE_KEY, CKK_EC) = {
                  CKA_SENSITIVE = true
                  CKA_EXTRACTABLE = false
                  CKA_SIGN = true
                  CKA_DERIVE = false
                }
                """, module, slot));
    }

    private static String required(SequencedMap<String, String> settings, String name) throws IOException {
        String value = settings.get(name);
        if (value == null) {
            throw new IOException("the setting '" + name + "' is missing");
        }
        return value;
    }
}
