package blackbox.replay.divergence.text;

/// A map of numbers with a bound: two generations, the older of which is dropped when the younger is full.
/// What was put or found within the last `capacity` puts is still present.
public final class GenerationalCache {

    public static final long ABSENT = Long.MIN_VALUE;

    private final int capacity;
    private Table young;
    private Table old;

    public GenerationalCache(int capacity) {
        this.capacity = capacity;
        this.young = new Table();
        this.old = new Table();
    }

    boolean isEmpty() {
        return young.size == 0 && old.size == 0;
    }

    /// The value, or [#ABSENT].
    public long get(long key) {
        long value = young.get(key);
        if (value == ABSENT && old.size > 0) {
            value = old.get(key);
            if (value != ABSENT) {
                put(key, value);
            }
        }
        return value;
    }

    public void put(long key, long value) {
        if (young.size >= capacity) {
            old = young;
            young = new Table();
        }
        young.put(key, value);
    }

    /// How many times this was called for that key before.
    public long count(long key) {
        long before = get(key);
        long now = before == ABSENT ? 0 : before + 1;
        put(key, now);
        return now;
    }

    /// Open addressing with linear probing; a slot is free where `used` is not set.
    private static final class Table {
        private long[] keys = new long[64];
        private long[] values = new long[64];
        private boolean[] used = new boolean[64];
        private int size;

        long get(long key) {
            int slot = slot(key);
            return used[slot] ? values[slot] : ABSENT;
        }

        void put(long key, long value) {
            int slot = slot(key);
            if (!used[slot]) {
                used[slot] = true;
                keys[slot] = key;
                size++;
            }
            values[slot] = value;
            if (size * 2 > keys.length) {
                grow();
            }
        }

        private int slot(long key) {
            int mask = keys.length - 1;
            int slot = (int) (key ^ key >>> 32) & mask;
            while (used[slot] && keys[slot] != key) {
                slot = slot + 1 & mask;
            }
            return slot;
        }

        private void grow() {
            long[] oldKeys = keys;
            long[] oldValues = values;
            boolean[] oldUsed = used;
            keys = new long[oldKeys.length * 2];
            values = new long[oldKeys.length * 2];
            used = new boolean[oldKeys.length * 2];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldUsed[i]) {
                    int slot = slot(oldKeys[i]);
                    used[slot] = true;
                    keys[slot] = oldKeys[i];
                    values[slot] = oldValues[i];
                }
            }
        }
    }
}
