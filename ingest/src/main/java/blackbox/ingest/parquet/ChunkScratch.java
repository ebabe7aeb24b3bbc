package blackbox.ingest.parquet;

import java.io.IOException;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridEncoder;

/// What columns need while they are encoded, kept from one to the next. Owned by the writer's thread.
final class ChunkScratch {

    private static final int SLAB_BYTES = 1 << 12;
    private static final int SLAB_BYTES_MAX = 1 << 20;

    final Octets repetition = new Octets();
    final Octets definition = new Octets();
    final Octets data = new Octets();
    final LongDictionary numbers;

    /// Dictionary ids of the column at hand.
    int[] ids = new int[1024];

    ChunkScratch(long seed) {
        numbers = new LongDictionary(seed);
    }

    int[] ids(int count) {
        if (ids.length < count) {
            ids = new int[Math.max(count, ids.length * 2)];
        }
        return ids;
    }

    /// A new encoder of Parquet's hybrid of run lengths and bit packing.
    static RunLengthBitPackingHybridEncoder hybrid(int bitWidth) {
        return new RunLengthBitPackingHybridEncoder(
                bitWidth, SLAB_BYTES, SLAB_BYTES_MAX, HeapByteBufferAllocator.getInstance());
    }

    /// Width of the numbers 0 to `count` - 1.
    static int bitWidth(int count) {
        return 32 - Integer.numberOfLeadingZeros(count - 1);
    }

    /// A data page of dictionary ids: their width, then the hybrid.
    void putIds(int[] ids, int from, int to, int entries) throws IOException {
        int width = bitWidth(entries);
        data.clear().put(width);
        try (var hybrid = hybrid(width)) {
            for (int i = from; i < to; i++) {
                hybrid.writeInt(ids[i]);
            }
            hybrid.toBytes().writeAllTo(data);
        }
    }
}
