package blackbox.evidence.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Parquet's RLE / bit-packed hybrid (encodings, `RLE`): levels and dictionary indexes.
final class HybridRuns {

    private static final VarHandle INT64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private HybridRuns() {}

    /// The number of bits of a level of at most `max`.
    static int width(int max) {
        return 32 - Integer.numberOfLeadingZeros(max);
    }

    /// Sets the first `count` bits, and no more than the rest of their last word.
    static void fill(long[] bits, int count) {
        Arrays.fill(bits, 0, (count + 63) >>> 6, -1L);
    }

    /// Decodes `count` values of `bitWidth` bits from `[from, end)` into `target`.
    static void decode(byte[] array, int from, int end, int bitWidth, int[] target, int count) {
        if (bitWidth > 31) {
            throw new IllegalArgumentException("a bit width is out of range");
        }
        int at = from;
        int done = 0;
        while (done < count) {
            int header = varint(array, at, end);
            at += varintSize(header);
            int run = header >>> 1;
            if ((header & 1) == 0) {
                int octets = (bitWidth + 7) >>> 3;
                int value = fixed(array, at, end, octets);
                at += octets;
                int n = Math.min(run, count - done);
                Arrays.fill(target, done, done + n, value);
                done += n;
            } else {
                int octets = packedOctets(run, bitWidth, end - at, (count - done + 7) >>> 3);
                int n = (int) Math.min(run * 8L, count - done);
                unpack(array, at, bitWidth, target, done, n);
                at += octets;
                done += n;
            }
            requireProgress(run);
        }
    }

    /// Decodes `count` values of one bit into `bits`, 64 to a word, lowest first; returns how many are 1.
    static int decodeBits(byte[] array, int from, int end, long[] bits, int count) {
        Arrays.fill(bits, 0, (count + 63) >>> 6, 0);
        int at = from;
        int done = 0;
        while (done < count) {
            int header = varint(array, at, end);
            at += varintSize(header);
            int run = header >>> 1;
            if ((header & 1) == 0) {
                int value = fixed(array, at, end, 1);
                at++;
                int n = Math.min(run, count - done);
                if (value == 1) {
                    setRange(bits, done, done + n);
                } else if (value != 0) {
                    throw new IllegalArgumentException("a level is out of range");
                }
                done += n;
            } else {
                int octets = packedOctets(run, 1, end - at, (count - done + 7) >>> 3);
                int n = (int) Math.min(run * 8L, count - done);
                copyBits(array, at, bits, done, n);
                at += octets;
                done += n;
            }
            requireProgress(run);
        }
        int ones = 0;
        for (int i = 0; i < (count + 63) >>> 6; i++) {
            ones += Long.bitCount(bits[i]);
        }
        return ones;
    }

    private static void requireProgress(int run) {
        if (run == 0) {
            throw new IllegalArgumentException("a run of levels is empty");
        }
    }

    /// Octets of a bit-packed run of `groups` times eight values; the last run may be cut after what is
    /// needed.
    private static int packedOctets(int groups, int bitWidth, int left, int groupsNeeded) {
        long octets = (long) groups * bitWidth;
        if (octets > left) {
            octets = (long) Math.min(groups, groupsNeeded) * bitWidth;
        }
        if (octets > left) {
            throw new IndexOutOfBoundsException("a bit-packed run goes beyond the end");
        }
        return (int) octets;
    }

    private static void setRange(long[] bits, int from, int to) {
        for (int i = from; i < to; ) {
            int n = Math.min(64 - (i & 63), to - i);
            bits[i >>> 6] |= (n == 64 ? -1L : (1L << n) - 1) << i;
            i += n;
        }
    }

    private static void copyBits(byte[] array, int at, long[] bits, int from, int count) {
        for (int done = 0; done < count; ) {
            int n = Math.min(56, count - done);
            long octets = load(array, at + (done >>> 3)) & (1L << n) - 1;
            int to = from + done;
            bits[to >>> 6] |= octets << to;
            if ((to & 63) + n > 64) {
                bits[(to >>> 6) + 1] |= octets >>> 64 - (to & 63);
            }
            done += n;
        }
    }

    static void unpack(byte[] array, int at, int bitWidth, int[] target, int from, int count) {
        long mask = (1L << bitWidth) - 1;
        long bit = (long) at << 3;
        int inner = 0;
        // The last values are near the array's end, where eight octets may not be left.
        for (; inner < count && (bit >>> 3) <= array.length - Long.BYTES; inner++, bit += bitWidth) {
            target[from + inner] = (int) ((long) INT64.get(array, (int) (bit >>> 3)) >>> (bit & 7) & mask);
        }
        for (; inner < count; inner++, bit += bitWidth) {
            target[from + inner] = (int) (load(array, (int) (bit >>> 3)) >>> (bit & 7) & mask);
        }
    }

    /// The eight octets at `at`, lowest first; zeros beyond the array's end.
    static long load(byte[] array, int at) {
        if (at <= array.length - Long.BYTES) {
            return (long) INT64.get(array, at);
        }
        long value = 0;
        for (int i = at; i < array.length; i++) {
            value |= (array[i] & 0xffL) << 8 * (i - at);
        }
        return value;
    }

    private static int fixed(byte[] array, int at, int end, int octets) {
        if (octets > end - at) {
            throw new IndexOutOfBoundsException("a run's value goes beyond the end");
        }
        int value = 0;
        for (int i = 0; i < octets; i++) {
            value |= (array[at + i] & 0xff) << 8 * i;
        }
        return value;
    }

    private static int varint(byte[] array, int at, int end) {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            if (at >= end) {
                throw new IndexOutOfBoundsException("a run header goes beyond the end");
            }
            int octet = array[at++];
            value |= (octet & 0x7f) << shift;
            if (octet >= 0) {
                if (varintSize(value) != shift / 7 + 1) {
                    throw new IllegalArgumentException("a run header is not minimal");
                }
                return value;
            }
        }
        throw new IllegalArgumentException("a run header is too long");
    }

    private static int varintSize(int value) {
        return (31 - Integer.numberOfLeadingZeros(value | 1)) / 7 + 1;
    }
}
