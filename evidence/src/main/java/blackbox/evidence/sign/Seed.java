package blackbox.evidence.sign;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.security.auth.DestroyFailedException;
import org.jspecify.annotations.Nullable;

/// The 32 octets from which a private key is derived (RFC 8032 section 5.1.5 for Ed25519; FIPS 204 algorithm
/// 6 for ML-DSA), and the JCA key made from them. Used by one thread at a time.
///
/// [#destroy] zeroes the octets held here and drops the JCA key, after asking it to destroy itself. It cannot
/// reach copies that the JVM has made: the JDK's keys cannot be destroyed, the collector moves objects, and
/// what a signature operation held is gone only when its memory is reused. If that is not enough, keep the
/// key in a device.
final class Seed {

    static final int LENGTH = 32;

    private static final String TEXT_PREFIX = "PRIVATE+KEY+";

    /// PrivateKeyInfo of an Ed25519 key up to its seed (RFC 8410 section 7).
    private static final byte[] ED25519_HEADER = HexFormat.of().parseHex("302e020100300506032b657004220420");

    private final KeyType type;
    private final byte[] octets;
    private final PublicKey publicKey;
    private @Nullable PrivateKey privateKey;

    private Seed(KeyType type, byte[] octets) {
        this.type = type;
        this.octets = octets;
        try {
            KeyPair pair = CryptoProvider.current().isFips() ? fipsPair(type, octets) : pair(type, octets);
            this.publicKey = pair.getPublic();
            this.privateKey = pair.getPrivate();
        } catch (GeneralSecurityException | ReflectiveOperationException e) {
            throw new IllegalStateException("no key for " + type.label() + " from its seed", e);
        }
    }

    static Seed create(KeyType type, SecureRandom random) {
        var octets = new byte[LENGTH];
        random.nextBytes(octets);
        return new Seed(type, octets);
    }

    /// Takes ownership of `octets`.
    static Seed of(KeyType type, byte[] octets) {
        if (octets.length != LENGTH) {
            throw new IllegalArgumentException("a seed has " + LENGTH + " octets, not " + octets.length);
        }
        return new Seed(type, octets);
    }

    /// JCA's only way from seed to public key is to generate a pair, with the seed as its only randomness.
    private static KeyPair pair(KeyType type, byte[] octets) throws GeneralSecurityException {
        String algorithm = PublicKeys.algorithm(type);
        KeyPairGenerator generator = CryptoProvider.current().keyPairGenerator(algorithm);
        var fixed = new Fixed(octets);
        generator.initialize(new NamedParameterSpec(algorithm), fixed);
        KeyPair pair = generator.generateKeyPair();
        if (type == KeyType.ED25519) {
            fixed.clear(); // the JDK's key has copied it; its ML-DSA keys keep it
        }
        return pair;
    }

    /// The FIPS module takes randomness from its own generator only, but its private keys know their public
    /// ones.
    private static KeyPair fipsPair(KeyType type, byte[] octets)
            throws GeneralSecurityException, ReflectiveOperationException {
        byte[] encoded = ByteBuffer.allocate(ED25519_HEADER.length + LENGTH)
                .put(ED25519_HEADER)
                .put(octets)
                .array();
        try {
            PrivateKey privateKey = CryptoProvider.current()
                    .keyFactory(PublicKeys.algorithm(type))
                    .generatePrivate(new PKCS8EncodedKeySpec(encoded));
            Object publicKey = Class.forName("org.bouncycastle.jcajce.interfaces.EdDSAPrivateKey")
                    .getMethod("getPublicKey")
                    .invoke(privateKey);
            return new KeyPair((PublicKey) publicKey, privateKey);
        } finally {
            Arrays.fill(encoded, (byte) 0);
        }
    }

    VerifierKey verifierKey(String name) {
        return new VerifierKey(name, type, PublicKeys.encode(type, publicKey));
    }

    byte[] sign(byte[] text) {
        PrivateKey key = privateKey;
        if (key == null) {
            throw new IllegalStateException("this key was destroyed");
        }
        Signature signature = CryptoProvider.current().signature(PublicKeys.algorithm(type));
        try {
            signature.initSign(key);
            signature.update(text);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a key for " + type.label() + " did not sign", e);
        }
    }

    void destroy() {
        Arrays.fill(octets, (byte) 0);
        PrivateKey key = privateKey;
        privateKey = null;
        if (key != null) {
            try {
                key.destroy();
            } catch (DestroyFailedException _) {
                // The JDK's keys cannot; see above.
            }
        }
    }

    boolean isDestroyed() {
        return privateKey == null;
    }

    /// A copy, for storing it.
    byte[] octets() {
        if (isDestroyed()) {
            throw new IllegalStateException("this key was destroyed");
        }
        return octets.clone();
    }

    /// `PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>`.
    String text(VerifierKey key) {
        byte[] prefix = type.prefix();
        byte[] seed = octets();
        byte[] all = ByteBuffer.allocate(prefix.length + LENGTH)
                .put(prefix)
                .put(seed)
                .array();
        String text = TEXT_PREFIX + key.name() + "+" + key.idText() + "+"
                + Base64.getEncoder().encodeToString(all);
        Arrays.fill(seed, (byte) 0);
        Arrays.fill(all, (byte) 0);
        return text;
    }

    /// Reads what [#text] wrote.
    ///
    /// @throws IllegalArgumentException whose message never repeats the text, which is a secret
    static Named parse(String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        try {
            return parse(octets);
        } finally {
            Arrays.fill(octets, (byte) 0);
        }
    }

    /// The same from octets, which can be cleared, as the caller does then: of the secret no text is made.
    static Named parse(byte[] text) {
        var parts = new ArrayList<byte[]>();
        int from = TEXT_PREFIX.length();
        byte[] prefix = TEXT_PREFIX.getBytes(StandardCharsets.US_ASCII);
        if (text.length < from || !Arrays.equals(text, 0, from, prefix, 0, from)) {
            throw new IllegalArgumentException("not a private note key");
        }
        for (int at = from; at < text.length && parts.size() < 2; at++) {
            if (text[at] == '+') {
                parts.add(Arrays.copyOfRange(text, from, at));
                from = at + 1;
            }
        }
        return parse(parts, Arrays.copyOfRange(text, from, lengthOf(text)));
    }

    /// Without the white space at its end.
    private static int lengthOf(byte[] text) {
        int length = text.length;
        while (length > 0 && text[length - 1] <= ' ' && text[length - 1] >= 0) {
            length--;
        }
        return length;
    }

    /// @param parts the name and the key's id
    /// @param secret base64, cleared here
    private static Named parse(List<byte[]> parts, byte[] secret) {
        byte[] all = parts.size() == 2 ? decode(secret) : new byte[0];
        Arrays.fill(secret, (byte) 0);
        KeyType type = KeyType.of(all);
        if (type == null || all.length != type.prefix().length + LENGTH || type == KeyType.ECDSA) {
            throw new IllegalArgumentException("not a private note key of a known type");
        }
        var seed = new Seed(type, Arrays.copyOfRange(all, all.length - LENGTH, all.length));
        Arrays.fill(all, (byte) 0);
        VerifierKey key = seed.verifierKey(new String(parts.getFirst(), StandardCharsets.UTF_8));
        if (!key.idText().equals(new String(parts.getLast(), StandardCharsets.UTF_8))) {
            throw new IllegalArgumentException("the private note key's id does not match its key");
        }
        return new Named(seed, key);
    }

    private static byte[] decode(byte[] base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException _) {
            throw new IllegalArgumentException("a private note key is not base64");
        }
    }

    /// A seed and its public key, with the name that was stored with it.
    record Named(Seed seed, VerifierKey key) {
        Named require(KeyType wanted) {
            key.require(wanted);
            return this;
        }
    }

    /// Returns the seed, once.
    private static final class Fixed extends SecureRandom {
        private final transient byte[] octets;
        private transient byte @Nullable [] given;

        Fixed(byte[] octets) {
            this.octets = octets;
        }

        @Override
        public void nextBytes(byte[] target) {
            if (given != null || target.length != octets.length) {
                throw new IllegalStateException("the provider makes keys from something other than a seed");
            }
            given = target;
            System.arraycopy(octets, 0, target, 0, target.length);
        }

        /// Zeroes what was returned.
        void clear() {
            if (given != null) {
                Arrays.fill(given, (byte) 0);
            }
        }
    }
}
