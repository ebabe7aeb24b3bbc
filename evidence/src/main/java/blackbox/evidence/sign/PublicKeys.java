package blackbox.evidence.sign;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;

/// Converts public keys to and from JCA's form: the raw octets of a note key, wrapped in fixed DER.
final class PublicKeys {

    /// SubjectPublicKeyInfo up to the key's octets (RFC 8410 section 4; FIPS 204 keys as in RFC 9881).
    private static final byte[] ED25519 = HexFormat.of().parseHex("302a300506032b6570032100");

    private static final byte[] ML_DSA_44 = HexFormat.of().parseHex("30820532300b06096086480165030403110382052100");
    private static final byte[] ML_DSA_65 = HexFormat.of().parseHex("308207b2300b0609608648016503040312038207a100");

    private PublicKeys() {}

    /// The JCA name of the algorithm of this type's signatures.
    static String algorithm(KeyType type) {
        return switch (type) {
            case ED25519, ED25519_COSIGNATURE -> "Ed25519";
            case ECDSA -> "SHA256withECDSA";
            case ML_DSA_44, ML_DSA_44_COSIGNATURE -> "ML-DSA-44";
            case ML_DSA_65 -> "ML-DSA-65";
        };
    }

    private static byte[] header(KeyType type) {
        return switch (type) {
            case ED25519, ED25519_COSIGNATURE -> ED25519;
            case ECDSA -> new byte[0];
            case ML_DSA_44, ML_DSA_44_COSIGNATURE -> ML_DSA_44;
            case ML_DSA_65 -> ML_DSA_65;
        };
    }

    /// @throws IllegalArgumentException when the provider rejects the octets as a key of this type
    static PublicKey decode(KeyType type, byte[] octets) {
        byte[] header = header(type);
        byte[] spki = ByteBuffer.allocate(header.length + octets.length)
                .put(header)
                .put(octets)
                .array();
        String factory = type == KeyType.ECDSA ? "EC" : algorithm(type);
        try {
            return CryptoProvider.current().keyFactory(factory).generatePublic(new X509EncodedKeySpec(spki));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("not a public key for " + type.label() + ": " + e.getMessage(), e);
        }
    }

    static byte[] encode(KeyType type, PublicKey key) {
        byte[] spki = key.getEncoded();
        byte[] header = header(type);
        if (spki == null || !Arrays.equals(header, Arrays.copyOf(spki, header.length))) {
            throw new IllegalArgumentException("not a public key for " + type.label());
        }
        return Arrays.copyOfRange(spki, header.length, spki.length);
    }

    /// Whether `signature` is this key's over `text`; false for anything malformed.
    static boolean verify(KeyType type, PublicKey key, byte[] text, byte[] signature) {
        Signature checker = CryptoProvider.current().signature(algorithm(type));
        try {
            checker.initVerify(key);
            checker.update(text);
            return checker.verify(signature);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
