package blackbox.ingest.parquet;

import java.util.Arrays;

/// Distinct numbers and their ids, up to a limit past which a dictionary does not pay. One is reused for all
/// columns.
final class LongDictionary {

    /// More distinct numbers than this are not worth a dictionary.
    static final int DISTINCT_MAX = 1 << 14;

    private static final int SLOTS = DISTINCT_MAX * 2;

    /// An odd random factor: the guest chooses many of the numbers and must not choose collisions.
    private final long factor;

    private final int[] table = new int[SLOTS];
    private final long[] values = new long[DISTINCT_MAX];
    private int count;

    LongDictionary(long seed) {
        factor = seed | 1;
    }

    int count() {
        return count;
    }

    long value(int id) {
        return values[id];
    }

    void clear() {
        if (count > 0) {
            Arrays.fill(table, 0);
            count = 0;
        }
    }

    /// The id of `value`, or -1 where the dictionary is full.
    int idOf(long value) {
        int slot = (int) (value * factor >>> 49) & SLOTS - 1;
        for (int entry = table[slot]; entry != 0; entry = table[slot]) {
            if (values[entry - 1] == value) {
                return entry - 1;
            }
            slot = slot + 1 & SLOTS - 1;
        }
        if (count == DISTINCT_MAX) {
            return -1;
        }
        values[count] = value;
        table[slot] = ++count;
        return count - 1;
    }
}
