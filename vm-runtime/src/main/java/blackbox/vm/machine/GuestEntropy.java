package blackbox.vm.machine;

import blackbox.schemas.Hash;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/// The seed that a guest's random generator gets before its agent starts. A secret: whoever knows it can
/// guess keys that the guest creates.
public final class GuestEntropy {
    /// The length in octets.
    public static final int BYTES = 64;

    private final byte[] octets;

    private GuestEntropy(byte[] octets) {
        this.octets = octets;
    }

    /// Fresh entropy from a generator, which must be unpredictable.
    public static GuestEntropy from(RandomGenerator random) {
        var octets = new byte[BYTES];
        random.nextBytes(octets);
        return new GuestEntropy(octets);
    }

    /// The entropy of an earlier machine.
    public static GuestEntropy ofHex(String hex) {
        byte[] octets = HexFormat.of().parseHex(hex);
        if (octets.length != BYTES) {
            throw new IllegalArgumentException("a guest's entropy has " + BYTES + " octets, not " + octets.length);
        }
        return new GuestEntropy(octets);
    }

    /// As hex, for a file that only its owner can read.
    public String toHex() {
        return HexFormat.of().formatHex(octets);
    }

    /// SHA-256 of the octets: identifies the entropy without revealing it.
    public Hash digest() {
        return Hash.sha256(octets);
    }

    public byte[] octets() {
        return Arrays.copyOf(octets, BYTES);
    }
}
