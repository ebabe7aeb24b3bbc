package blackbox.vault;

import blackbox.schemas.FipsMode;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.Provider;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts and opens the segments of one stream, in the form of Tink's streaming AEAD AES256-GCM-HKDF with
/// SHA-256 and segments of 64 KiB
/// (<https://developers.google.com/tink/streaming-aead/aes_gcm_hkdf_streaming>): the stream's key is derived
/// from the given one, a salt and the associated data, and each segment's nonce holds its number and whether
/// it is the last, so that no segment can be moved, left out or put into another stream.
///
/// AES-GCM and HMAC come from the JDK, or in FIPS mode from the certified module, as all cryptography here
/// does; that is why this is not Tink itself, with which the tests compare it. Owned by one thread.
final class SegmentCipher {

    /// Octets of a segment as it is stored, with its tag; the header takes its own length from the first one's.
    static final int SEGMENT_BYTES = 1 << 16;

    /// Octets by which a segment is longer than what it holds.
    static final int TAG_BYTES = 16;

    /// What precedes the first segment: this length in one octet, the salt, and what all nonces begin with.
    static final int HEADER_BYTES = 40;

    /// What a segment holds; the first holds [#HEADER_BYTES] less.
    static final int PLAIN_BYTES = SEGMENT_BYTES - TAG_BYTES;

    private static final int SALT_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final String HMAC = "HmacSHA256";

    private final SecretKeySpec key;
    private final byte[] prefix;
    private final Cipher cipher;

    /// @param header of the stream
    /// @param associated what the stream is bound to
    SegmentCipher(PayloadKey given, byte[] header, byte[] associated) {
        byte[] salt = Arrays.copyOfRange(header, 1, 1 + SALT_BYTES);
        this.prefix = Arrays.copyOfRange(header, 1 + SALT_BYTES, HEADER_BYTES);
        byte[] derived = derive(given, salt, associated);
        this.key = new SecretKeySpec(derived, "AES");
        Arrays.fill(derived, (byte) 0);
        this.cipher = cipher();
    }

    /// The header of a new stream.
    static byte[] header(SecureRandom random) {
        var header = new byte[HEADER_BYTES];
        random.nextBytes(header);
        header[0] = HEADER_BYTES;
        return header;
    }

    /// Encrypts a segment; returns its length in `into`.
    int encrypt(long number, boolean last, byte[] plain, int length, byte[] into) {
        try {
            cipher.init(Cipher.ENCRYPT_MODE, key, nonce(number, last));
            return cipher.doFinal(plain, 0, length, into, 0);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("AES-GCM does not encrypt", e);
        }
    }

    /// Opens a segment; returns the length of what it holds, or -1 when it is not genuine.
    int decrypt(long number, boolean last, byte[] stored, int length, byte[] into) {
        try {
            cipher.init(Cipher.DECRYPT_MODE, key, nonce(number, last));
            return cipher.doFinal(stored, 0, length, into, 0);
        } catch (AEADBadTagException _) {
            return -1;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("AES-GCM does not decrypt", e);
        }
    }

    private GCMParameterSpec nonce(long number, boolean last) {
        ByteBuffer nonce = ByteBuffer.allocate(NONCE_BYTES).put(prefix);
        nonce.putInt(Math.toIntExact(number)).put((byte) (last ? 1 : 0));
        return new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce.array());
    }

    /// HKDF (RFC 5869) with SHA-256; 32 octets are its first block.
    private static byte[] derive(PayloadKey given, byte[] salt, byte[] associated) {
        byte[] octets = given.octets();
        byte[] extracted = hmac(salt, octets);
        byte[] info = Arrays.copyOf(associated, associated.length + 1);
        info[associated.length] = 1;
        byte[] derived = hmac(extracted, info);
        Arrays.fill(octets, (byte) 0);
        Arrays.fill(extracted, (byte) 0);
        return derived;
    }

    private static byte[] hmac(byte[] key, byte[] octets) {
        try {
            Provider module = FipsMode.module();
            Mac mac = module == null ? Mac.getInstance(HMAC, "SunJCE") : Mac.getInstance(HMAC, module);
            mac.init(new SecretKeySpec(key, HMAC));
            return mac.doFinal(octets);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no " + HMAC, e);
        }
    }

    private static Cipher cipher() {
        String name = "AES/GCM/NoPadding";
        try {
            Provider module = FipsMode.module();
            return module == null ? Cipher.getInstance(name, "SunJCE") : Cipher.getInstance(name, module);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no " + name, e);
        }
    }
}
