package blackbox.vault.age;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;

/// A public key that files are encrypted to, `age1…`. Immutable.
public final class AgeRecipient implements AgeLock {

    static final String KIND = "X25519";
    private static final String PREFIX = "age";
    private static final String INFO = "age-encryption.org/v1/X25519";

    private final byte[] key;

    AgeRecipient(byte[] key) {
        this.key = key.clone();
    }

    /// Reads `age1…`.
    ///
    /// @throws IllegalArgumentException when it is none
    public static AgeRecipient parse(String text) {
        byte[] key = Bech32.decode(PREFIX, text);
        if (key == null || key.length != AgeCrypto.KEY_BYTES) {
            throw new IllegalArgumentException("a public key is a line that begins with age1, as `blackbox keys"
                    + " identity` and `age-keygen` print it");
        }
        return new AgeRecipient(key);
    }

    @Override
    public AgeStanza wrap(byte[] fileKey, SecureRandom random) {
        var secret = new byte[AgeCrypto.KEY_BYTES];
        random.nextBytes(secret);
        byte[] share = AgeCrypto.publicKey(secret);
        byte[] shared = AgeCrypto.x25519(secret, key);
        Arrays.fill(secret, (byte) 0);
        if (shared == null) {
            throw new IllegalArgumentException(this + " is no key that keeps anything secret");
        }
        return new AgeStanza(
                List.of(KIND, AgeHeader.base64(share)), AgeCrypto.seal(wrapping(shared, share, key), fileKey));
    }

    /// What the file's key is encrypted with.
    static byte[] wrapping(byte[] shared, byte[] share, byte[] recipient) {
        byte[] salt = Arrays.copyOf(share, share.length + recipient.length);
        System.arraycopy(recipient, 0, salt, share.length, recipient.length);
        return AgeCrypto.hkdf(shared, salt, INFO);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AgeRecipient recipient && Arrays.equals(key, recipient.key);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key);
    }

    /// `age1…`.
    @Override
    public String toString() {
        return Bech32.encode(PREFIX, key);
    }
}
