package blackbox.ingest.parquet;

import java.util.Arrays;

/// Which rows of a row group have a value: a bit each. Setting is all that a row costs a column; rows without a
/// value cost nothing until the levels are written.
final class Presence {

    /// Runs of fewer equal octets (8 rows each) are cheaper left in a bit-packed run.
    private static final int EQUAL_OCTETS_MIN = 4;

    private long[] bits = new long[64];

    void set(int row) {
        int word = row >>> 6;
        if (word >= bits.length) {
            bits = Arrays.copyOf(bits, Math.max(word + 1, bits.length * 2));
        }
        bits[word] |= 1L << row;
    }

    boolean has(int row) {
        int word = row >>> 6;
        return word < bits.length && (bits[word] >>> row & 1) != 0;
    }

    void clear() {
        Arrays.fill(bits, 0);
    }

    /// How many rows of `[from, to)` have a value; both are multiples of 8, or `to` is the group's end.
    int count(int from, int to) {
        int count = 0;
        for (int row = from; row < to; row += 8) {
            count += Integer.bitCount(octet(row));
        }
        return count;
    }

    private int octet(int row) {
        int word = row >>> 6;
        return word < bits.length ? (int) (bits[word] >>> row) & 0xff : 0;
    }

    /// Appends the definition levels of rows `[from, to)`, 1 for a value and 0 for none, as Parquet's hybrid of
    /// run lengths and bit-packed octets (Encodings.md, "RLE = 3"), whose bit-packed octets are this bit set's
    /// own.
    void putLevels(Octets target, int from, int to) {
        int row = from;
        int packedFrom = from;
        while (row < to) {
            int equal = equalOctets(row, to);
            boolean worthwhile = equal >= EQUAL_OCTETS_MIN || row + 8 * equal >= to && packedFrom == row;
            if (worthwhile) {
                putPacked(target, packedFrom, row);
                int rows = Math.min(8 * equal, to - row);
                target.putVarint(rows << 1).put(octet(row) == 0 ? 0 : 1);
                packedFrom = row + 8 * equal;
            }
            row += 8 * Math.max(equal, 1);
        }
        putPacked(target, packedFrom, Math.max(packedFrom, row));
    }

    /// How many octets from `row` on are equal and all ones or all zeros; rows past the end count as equal.
    private int equalOctets(int row, int to) {
        int first = octet(row);
        int last = to - row < 8 ? (1 << to - row) - 1 : 0xff;
        if (first != 0 && first != last) {
            return 0;
        }
        boolean ones = first != 0;
        int equal = 1;
        for (int next = row + 8; next < to; next += 8, equal++) {
            int full = to - next < 8 ? (1 << to - next) - 1 : 0xff;
            if (octet(next) != (ones ? full : 0)) {
                break;
            }
        }
        return equal;
    }

    private void putPacked(Octets target, int from, int to) {
        if (from < to) {
            int octets = (to - from) / 8;
            target.putVarint(octets << 1 | 1);
            for (int i = 0; i < octets; i++) {
                target.put(octet(from + 8 * i));
            }
        }
    }
}
