package blackbox.evidence.log;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What a signature line of a cosigner holds (C2SP tlog-cosignature, `timestamped_signature`): when it was
/// made, in seconds since 1970, and the signature over one of the two messages here. Signing itself is
/// `blackbox.evidence.sign`'s.
public record Cosignature(long epochSeconds, byte[] signature) {

    /// Signature type of Ed25519 cosignatures.
    public static final byte ED25519 = 4;

    /// Signature type of ML-DSA-44 cosignatures.
    public static final byte ML_DSA_44 = 6;

    private static final String ED25519_HEADER = "cosignature/v1\n";
    private static final byte[] SUBTREE_LABEL = "subtree/v1\n\0".getBytes(StandardCharsets.US_ASCII);
    private static final int NAME_LENGTH_MAX = 255;

    public Cosignature {
        if (epochSeconds < 0 || signature.length == 0) {
            throw new IllegalArgumentException("not a cosignature: time " + epochSeconds);
        }
    }

    /// The octets in the signature line, after the key id.
    public byte[] encoded() {
        return ByteBuffer.allocate(Long.BYTES + signature.length)
                .putLong(epochSeconds)
                .put(signature)
                .array();
    }

    /// Reads what [#encoded] writes, for an algorithm whose signatures are `signatureLength` octets long;
    /// null for anything else, including a time above `2^63 - 1`.
    public static @Nullable Cosignature parse(byte[] octets, int signatureLength) {
        if (octets.length != Long.BYTES + signatureLength || octets[0] < 0) {
            return null;
        }
        return new Cosignature(
                ByteBuffer.wrap(octets).getLong(), Arrays.copyOfRange(octets, Long.BYTES, octets.length));
    }

    /// What an Ed25519 cosigner signs: two lines, then the whole text of the note.
    public static byte[] ed25519Message(long epochSeconds, byte[] noteText) {
        byte[] head = (ED25519_HEADER + "time " + epochSeconds + "\n").getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(head.length + noteText.length)
                .put(head)
                .put(noteText)
                .array();
    }

    /// What an ML-DSA-44 cosigner signs, the structure `cosigned_message`: it names the cosigner and the
    /// tree, which is all of a checkpoint that it says anything about. Time 0 leaves out the claim that no
    /// larger tree was seen.
    ///
    /// @throws IllegalArgumentException when a name is longer than 255 octets
    public static byte[] mlDsa44Message(String cosigner, long epochSeconds, Checkpoint checkpoint) {
        byte[] name = opaque(cosigner);
        byte[] origin = opaque(checkpoint.origin());
        return ByteBuffer.allocate(SUBTREE_LABEL.length + name.length + origin.length + 3 * Long.BYTES + 32)
                .put(SUBTREE_LABEL)
                .put(name)
                .putLong(epochSeconds)
                .put(origin)
                .putLong(0)
                .putLong(checkpoint.size())
                .put(checkpoint.root().toBytes())
                .array();
    }

    /// A string with its length in one octet before it (RFC 8446, section 3.4).
    private static byte[] opaque(String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        if (octets.length == 0 || octets.length > NAME_LENGTH_MAX) {
            throw new IllegalArgumentException("a cosigned name is 1 to 255 octets, not " + octets.length);
        }
        return ByteBuffer.allocate(1 + octets.length)
                .put((byte) octets.length)
                .put(octets)
                .array();
    }
}
