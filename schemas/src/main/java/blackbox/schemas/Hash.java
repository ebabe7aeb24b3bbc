package blackbox.schemas;

import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// A SHA-256 digest: 32 octets, compared by value, printed as 64 lower-case hex digits.
public final class Hash {

    /// Length of a digest in octets.
    public static final int LENGTH = 32;

    /// Thirty-two zero octets, which the first batch of a run names as its predecessor.
    public static final Hash ZERO = new Hash(new byte[LENGTH]);

    private final byte[] octets;

    private Hash(byte[] octets) {
        this.octets = octets;
    }

    /// Copies 32 octets starting at `offset`.
    ///
    /// @throws IllegalArgumentException when fewer than 32 octets are left
    public static Hash copyOf(byte[] source, int offset) {
        if (offset < 0 || source.length - offset < LENGTH) {
            throw new IllegalArgumentException("a hash needs 32 octets; there are only " + (source.length - offset));
        }
        return new Hash(Arrays.copyOfRange(source, offset, offset + LENGTH));
    }

    /// Reads 64 hex digits.
    ///
    /// @throws IllegalArgumentException when `hex` is not 64 hex digits
    public static Hash ofHex(String hex) {
        if (hex.length() != 2 * LENGTH) {
            throw new IllegalArgumentException("a hash is 64 hex digits, not " + hex.length());
        }
        return new Hash(HexFormat.of().parseHex(hex));
    }

    /// The SHA-256 of `octets`.
    public static Hash sha256(byte[] octets) {
        return new Hash(Sha256.digest().digest(octets));
    }

    /// A copy of the 32 octets.
    public byte[] toBytes() {
        return octets.clone();
    }

    /// Writes the 32 octets to `target` at `offset`.
    public void copyTo(byte[] target, int offset) {
        System.arraycopy(octets, 0, target, offset, LENGTH);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Hash hash && Arrays.equals(octets, hash.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(octets);
    }
}
