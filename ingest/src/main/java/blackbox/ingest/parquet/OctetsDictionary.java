package blackbox.ingest.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Distinct octet strings and their ids, in the order in which they came. Copies what it keeps, so batches need
/// not outlive their append. The guest chooses the strings, so the hash is seeded and it cannot choose
/// collisions.
final class OctetsDictionary {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final long seed;
    private final Octets arena = new Octets();

    /// End of each string in the arena, behind a leading 0.
    private int[] ends = new int[65];

    /// Hash of each string, so that growing does not read the strings again.
    private int[] hashes = new int[64];

    /// Open addressing: id + 1, or 0 for a free slot.
    private int[] table = new int[128];

    private int count;

    OctetsDictionary(long seed) {
        this.seed = seed;
    }

    int count() {
        return count;
    }

    byte[] array() {
        return arena.array();
    }

    int offset(int id) {
        return ends[id];
    }

    int length(int id) {
        return ends[id + 1] - ends[id];
    }

    /// Octets of all distinct strings together.
    int bytes() {
        return arena.size();
    }

    void clear() {
        if (count > 0) {
            arena.clear();
            Arrays.fill(table, 0);
            count = 0;
        }
    }

    /// The id of the octets, new if they were not there.
    int idOf(byte[] source, int offset, int length) {
        int hash = hash(source, offset, length);
        int mask = table.length - 1;
        int slot = hash & mask;
        for (int entry = table[slot]; entry != 0; entry = table[slot]) {
            if (hashes[entry - 1] == hash && equal(entry - 1, source, offset, length)) {
                return entry - 1;
            }
            slot = slot + 1 & mask;
        }
        table[slot] = count + 1;
        return add(hash, source, offset, length);
    }

    private boolean equal(int id, byte[] source, int offset, int length) {
        return Arrays.equals(arena.array(), ends[id], ends[id + 1], source, offset, offset + length);
    }

    private int add(int hash, byte[] source, int offset, int length) {
        if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, count * 2);
            ends = Arrays.copyOf(ends, count * 2 + 1);
        }
        arena.put(source, offset, length);
        hashes[count] = hash;
        ends[count + 1] = arena.size();
        count++;
        if (count * 2 > table.length) {
            grow();
        }
        return count - 1;
    }

    private void grow() {
        table = new int[table.length * 2];
        int mask = table.length - 1;
        for (int id = 0; id < count; id++) {
            int slot = hashes[id] & mask;
            while (table[slot] != 0) {
                slot = slot + 1 & mask;
            }
            table[slot] = id + 1;
        }
    }

    private int hash(byte[] source, int offset, int length) {
        long hash = seed ^ length * MIX;
        int at = offset;
        int end = offset + length;
        for (; end - at >= 8; at += 8) {
            hash = mix(hash ^ (long) LONGS.get(source, at));
        }
        long tail = 0;
        for (; at < end; at++) {
            tail = tail << 8 | source[at] & 0xff;
        }
        hash = mix(hash ^ tail);
        return (int) (hash ^ hash >>> 32);
    }

    private static long mix(long value) {
        return Math.unsignedMultiplyHigh(value, MIX) ^ value * MIX;
    }
}
