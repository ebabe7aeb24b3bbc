package blackbox.replay.divergence.text;

/// Hashes under a key that the guest does not know, so that a guest cannot make two different events look the
/// same. A 64x64-bit multiply whose halves are folded, as in wyhash; 64 bits, for comparison within one
/// alignment only.
public final class KeyedHash {

    private final long key;
    private final long other;

    public KeyedHash(long key) {
        this.key = fold(key ^ 0x2d358dccaa6c78a5L, 0x8bb84b93962eacc9L) | 1;
        this.other = fold(key ^ 0x4b33a62ed433d4a3L, 0x4d5a2da51de1aa47L) | 1;
    }

    public long mix(long a, long b) {
        return fold(a ^ key, b ^ other);
    }

    public long mix(long a, long b, long c) {
        return mix(mix(a, b), c);
    }

    private static long fold(long a, long b) {
        return Math.multiplyHigh(a, b) ^ a * b;
    }
}
