package blackbox.evidence.sign;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The kinds of note keys (C2SP signed-note, signature types) that we read: the prefix of the public key in a
/// verifier key and in the input of the key id.
enum KeyType {
    ED25519(32, "Ed25519", 0x01),
    /// The public key is a DER SubjectPublicKeyInfo on P-256.
    ECDSA(0, "ECDSA P-256", 0x02),
    /// Timestamped witness cosignatures (C2SP tlog-cosignature).
    ED25519_COSIGNATURE(32, "Ed25519 cosignature", 0x04),
    ML_DSA_44_COSIGNATURE(1312, "ML-DSA-44 cosignature", 0x06),
    /// C2SP assigns no octet to plain ML-DSA signatures over a note's text and keeps 0xff, followed by an
    /// identifier, for such types.
    ML_DSA_44(1312, "ML-DSA-44", 0xff, "blackbox/ml-dsa-44"),
    ML_DSA_65(1952, "ML-DSA-65", 0xff, "blackbox/ml-dsa-65");

    private final int publicKeyLength;
    private final String label;
    private final int octet;
    private final String identifier;

    KeyType(int publicKeyLength, String label, int octet) {
        this(publicKeyLength, label, octet, "");
    }

    KeyType(int publicKeyLength, String label, int octet, String identifier) {
        this.publicKeyLength = publicKeyLength;
        this.label = label;
        this.octet = octet;
        this.identifier = identifier;
    }

    /// The type's octet, and for 0xff the identifier after it.
    byte[] prefix() {
        byte[] text = identifier.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(1 + text.length).put((byte) octet).put(text).array();
    }

    /// Its name for people.
    String label() {
        return label;
    }

    /// The type whose prefix `octets` (type, then key material) begin with; null when it is not one of ours.
    static @Nullable KeyType of(byte[] octets) {
        for (KeyType type : values()) {
            byte[] prefix = type.prefix();
            if (octets.length > prefix.length && Arrays.equals(prefix, Arrays.copyOf(octets, prefix.length))) {
                return type;
            }
        }
        return null;
    }

    boolean fitsPublicKey(int length) {
        return publicKeyLength == 0 || length == publicKeyLength;
    }
}
