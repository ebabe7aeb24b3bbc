package blackbox.vault.age;

import blackbox.schemas.FipsMode;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.security.spec.XECPublicKeySpec;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// The primitives that age is made of, from the JDK.
final class AgeCrypto {

    /// Octets of a file's key.
    static final int FILE_KEY_BYTES = 16;

    /// Octets of an X25519 key, and of what is derived.
    static final int KEY_BYTES = 32;

    /// Octets by which an encrypted text is longer.
    static final int TAG_BYTES = 16;

    private static final byte[] BASE_POINT = basePoint();

    private AgeCrypto() {}

    private static byte[] basePoint() {
        var point = new byte[KEY_BYTES];
        point[0] = 9;
        return point;
    }

    /// @throws AgeException in FIPS mode, whose module has none of this
    static void requireAllowed() throws AgeException {
        if (FipsMode.module() != null) {
            throw new AgeException(
                    AgeException.Code.MALFORMED,
                    "files in the form of age use X25519, scrypt and ChaCha20-Poly1305, which FIPS mode does not have:"
                            + " run this without BLACKBOX_FIPS, or export with --in-the-clear and encrypt the file with a"
                            + " program that your rules allow");
        }
    }

    /// The public key of a secret one.
    static byte[] publicKey(byte[] secret) {
        byte[] point = x25519(secret, BASE_POINT);
        if (point == null) {
            throw new IllegalStateException("X25519 refused its own base point");
        }
        return point;
    }

    /// X25519 (RFC 7748); null if `point` is one of the few that give the same secret to everybody.
    static byte @Nullable [] x25519(byte[] secret, byte[] point) {
        try {
            var factory = KeyFactory.getInstance("X25519");
            var agreement = KeyAgreement.getInstance("X25519");
            agreement.init(factory.generatePrivate(new XECPrivateKeySpec(NamedParameterSpec.X25519, secret)));
            agreement.doPhase(
                    factory.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, number(point))), true);
            byte[] shared = agreement.generateSecret();
            return isZero(shared) ? null : shared;
        } catch (InvalidKeyException _) {
            return null;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no X25519", e);
        }
    }

    private static boolean isZero(byte[] octets) {
        int any = 0;
        for (byte octet : octets) {
            any |= octet;
        }
        return any == 0;
    }

    private static BigInteger number(byte[] littleEndian) {
        var reversed = new byte[littleEndian.length];
        for (int i = 0; i < reversed.length; i++) {
            reversed[i] = littleEndian[littleEndian.length - 1 - i];
        }
        reversed[0] &= 0x7f; // RFC 7748, section 5: the highest bit is ignored
        return new BigInteger(1, reversed);
    }

    /// HKDF with SHA-256 (RFC 5869), 32 octets.
    static byte[] hkdf(byte[] key, byte[] salt, String info) {
        try {
            return KDF.getInstance("HKDF-SHA256")
                    .deriveData(HKDFParameterSpec.ofExtract()
                            .addIKM(key)
                            .addSalt(salt)
                            .thenExpand(info.getBytes(java.nio.charset.StandardCharsets.US_ASCII), KEY_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no HKDF", e);
        }
    }

    static byte[] hmac(byte[] key, byte[] octets) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(octets);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no HMAC", e);
        }
    }

    /// ChaCha20-Poly1305 with a nonce of zeros, for keys that encrypt one text.
    static byte[] seal(byte[] key, byte[] text) {
        try {
            Cipher cipher = cipher();
            cipher.init(Cipher.ENCRYPT_MODE, chacha(key), new IvParameterSpec(new byte[12]));
            return cipher.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("ChaCha20-Poly1305 does not encrypt", e);
        }
    }

    /// Opens what [#seal] made; null if this key did not.
    static byte @Nullable [] open(byte[] key, byte[] sealed) {
        try {
            Cipher cipher = cipher();
            cipher.init(Cipher.DECRYPT_MODE, chacha(key), new IvParameterSpec(new byte[12]));
            return cipher.doFinal(sealed);
        } catch (AEADBadTagException _) {
            return null;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("ChaCha20-Poly1305 does not decrypt", e);
        }
    }

    static Cipher cipher() {
        try {
            return Cipher.getInstance("ChaCha20-Poly1305");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no ChaCha20-Poly1305", e);
        }
    }

    static SecretKeySpec chacha(byte[] key) {
        return new SecretKeySpec(key, "ChaCha20");
    }
}
