package blackbox.evidence.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// What a column chunk's metadata says about its values (Parquet format, `Statistics`). Engines skip whole
/// row groups by it, so a false bound hides rows from filtered queries; the reader checks the values against
/// it.
///
/// `leasts` and `greatests` have the bounds as they are stored, the deprecated ones too. A bound may be wider
/// than the values, as truncated ones are.
record ChunkStatistics(long nulls, List<byte[]> leasts, List<byte[]> greatests) {

    /// No statistics.
    static final ChunkStatistics NONE = new ChunkStatistics(-1, List.of(), List.of());

    private static final VarHandle INT32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    ChunkStatistics {
        leasts = List.copyOf(leasts);
        greatests = List.copyOf(greatests);
    }

    static ChunkStatistics parse(CompactThrift in) {
        in.struct();
        long nulls = -1;
        var leasts = new ArrayList<byte[]>();
        var greatests = new ArrayList<byte[]>();
        for (int id = in.field(0); id != CompactThrift.STOP; id = in.field(id)) {
            switch (id) {
                case 1, 5 -> greatests.add(in.binary());
                case 2, 6 -> leasts.add(in.binary());
                case 3 -> {
                    nulls = in.int64();
                    if (nulls < 0) {
                        throw new IllegalArgumentException("a column chunk's count of nulls is negative");
                    }
                }
                // A count of distinct values, and whether bounds are exact: no engine leaves out rows by them.
                case 4, 7, 8 -> in.skip();
                default -> throw in.unknown("a column chunk's statistics", id);
            }
        }
        return new ChunkStatistics(nulls, leasts, greatests);
    }

    /// Checks the count of nulls against the chunk's levels.
    void requireNulls(long there) {
        if (nulls >= 0 && nulls != there) {
            throw lie("it holds " + there + " nulls, but its statistics say " + nulls);
        }
    }

    /// Checks `values[0]` to `values[count - 1]`, of a column of that type, against every bound.
    void requireWithin(PhysicalType type, long[] values, int count) {
        if (leasts.isEmpty() && greatests.isEmpty()) {
            return;
        }
        long least =
                leasts.stream().mapToLong(bound -> number(type, bound)).max().orElse(Long.MIN_VALUE);
        long greatest =
                greatests.stream().mapToLong(bound -> number(type, bound)).min().orElse(Long.MAX_VALUE);
        for (int i = 0; i < count; i++) {
            if (values[i] < least || values[i] > greatest) {
                throw lie("a value lies outside the bounds of its statistics");
            }
        }
    }

    private static long number(PhysicalType type, byte[] bound) {
        int width = type == PhysicalType.INT32 ? Integer.BYTES : Long.BYTES;
        if (bound.length != width) {
            throw new IllegalArgumentException("a bound of a column chunk's statistics has the wrong length");
        }
        return width == Integer.BYTES ? (int) INT32.get(bound, 0) : (long) INT64.get(bound, 0);
    }

    /// Checks slices of `octets` against every bound, in the order of unsigned octets.
    void requireWithin(byte[] octets, int[] offsets, int[] lengths, int count) {
        for (byte[] bound : leasts) {
            for (int i = 0; i < count; i++) {
                int end = offsets[i] + lengths[i];
                if (Arrays.compareUnsigned(octets, offsets[i], end, bound, 0, bound.length) < 0) {
                    throw lie("a value lies below the bounds of its statistics");
                }
            }
        }
        for (byte[] bound : greatests) {
            for (int i = 0; i < count; i++) {
                int end = offsets[i] + lengths[i];
                if (Arrays.compareUnsigned(octets, offsets[i], end, bound, 0, bound.length) > 0) {
                    throw lie("a value lies above the bounds of its statistics");
                }
            }
        }
    }

    private static IllegalArgumentException lie(String what) {
        return new IllegalArgumentException("a column chunk's statistics are untrue: " + what);
    }
}
