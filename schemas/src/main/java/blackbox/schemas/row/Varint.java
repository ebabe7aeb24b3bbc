package blackbox.schemas.row;

/// Unsigned LEB128 varints of at most ten octets, minimal form only: one number has one encoding.
final class Varint {

    /// What [#get] returns if the octets are not a minimal varint, or end too soon.
    static final long MALFORMED = Long.MIN_VALUE;

    private Varint() {}

    static int size(long value) {
        return (63 - Long.numberOfLeadingZeros(value | 1)) / 7 + 1;
    }

    static int put(byte[] target, int at, long value) {
        while ((value & ~0x7fL) != 0) {
            target[at++] = (byte) (value | 0x80);
            value >>>= 7;
        }
        target[at++] = (byte) value;
        return at;
    }

    /// The varint at `at`, which must end before `end`.
    ///
    /// Lengths, counts and keys never have the top bit set, so [#MALFORMED] cannot be mistaken for one.
    static long get(byte[] source, int at, int end) {
        long value = 0;
        for (int shift = 0; shift < 63 && at < end; shift += 7) {
            byte octet = source[at++];
            value |= (long) (octet & 0x7f) << shift;
            if (octet >= 0) {
                return octet == 0 && shift > 0 ? MALFORMED : value;
            }
        }
        return MALFORMED;
    }

    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
