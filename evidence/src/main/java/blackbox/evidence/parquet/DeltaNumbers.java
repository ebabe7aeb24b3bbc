package blackbox.evidence.parquet;

/// Parquet's DELTA_BINARY_PACKED encoding of whole numbers.
final class DeltaNumbers {

    private static final int BLOCK_VALUES_MAX = 1 << 16;

    private final byte[] array;
    private final int end;
    private int at;

    DeltaNumbers(byte[] array, int from, int end) {
        this.array = array;
        this.at = from;
        this.end = end;
    }

    /// Offset after what was decoded.
    int position() {
        return at;
    }

    /// Decodes exactly `count` numbers into `target`.
    void decode(long[] target, int count) {
        long blockValues = varint();
        long miniblocks = varint();
        long total = varint();
        long value = zigzag();
        if (total != count) {
            throw new IllegalArgumentException("a page holds " + total + " numbers, not " + count);
        }
        if (blockValues <= 0
                || blockValues > BLOCK_VALUES_MAX
                || miniblocks <= 0
                || blockValues % (miniblocks * 32) != 0) {
            throw new IllegalArgumentException("a delta block's sizes are out of range");
        }
        if (count == 0) {
            return;
        }
        target[0] = value;
        int done = 1;
        while (done < count) {
            done = block(target, done, count, (int) miniblocks, (int) (blockValues / miniblocks));
        }
    }

    private int block(long[] target, int done, int count, int miniblocks, int valuesEach) {
        long least = zigzag();
        int widths = at;
        advance(miniblocks);
        for (int i = 0; i < miniblocks && done < count; i++) {
            int bitWidth = array[widths + i] & 0xff;
            if (bitWidth > 64) {
                throw new IllegalArgumentException("a bit width is out of range");
            }
            int start = at;
            advance(Math.multiplyExact(valuesEach, bitWidth) >>> 3);
            int n = Math.min(valuesEach, count - done);
            unpack(start, bitWidth, least, target, done, n);
            done += n;
        }
        return done;
    }

    private void unpack(int from, int bitWidth, long least, long[] target, int done, int n) {
        long value = target[done - 1];
        long bit = (long) from << 3;
        for (int i = 0; i < n; i++, bit += bitWidth) {
            value += least + bits(bit, bitWidth);
            target[done + i] = value;
        }
    }

    private long bits(long bit, int bitWidth) {
        if (bitWidth == 0) {
            return 0;
        }
        int octet = (int) (bit >>> 3);
        int shift = (int) (bit & 7);
        long value = HybridRuns.load(array, octet) >>> shift;
        if (shift + bitWidth > 64) {
            value |= (array[octet + 8] & 0xffL) << 64 - shift;
        }
        return bitWidth == 64 ? value : value & (1L << bitWidth) - 1;
    }

    private void advance(int octets) {
        if (octets < 0 || octets > end - at) {
            throw new IndexOutOfBoundsException("a delta block goes beyond the end");
        }
        at += octets;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            advance(1);
            int octet = array[at - 1];
            value |= (long) (octet & 0x7f) << shift;
            if (octet >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("a number is longer than ten octets");
    }

    private long zigzag() {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }
}
