package blackbox.schemas.row;

import java.util.Arrays;

/// Builds a STRING_LIST value element by element without allocating an object for each; reused, owned by one
/// thread.
public final class ListEncoder {

    private static final int VARINT_BYTES_MAX = 10;

    private byte[] array = new byte[256];
    private int size;

    /// Starts a list of `count` elements, which are then added in order with [#add].
    public void start(int count) {
        size = Varint.put(array, 0, count);
    }

    /// Adds the next element, copied from a slice.
    public void add(byte[] source, int offset, int length) {
        long needed = (long) size + VARINT_BYTES_MAX + length;
        if (needed > array.length) {
            array = Arrays.copyOf(array, Math.toIntExact(Math.max(needed, 2L * array.length)));
        }
        size = Varint.put(array, size, length);
        System.arraycopy(source, offset, array, size, length);
        size += length;
    }

    /// Sets `column` to the list, as a slice that is valid until the next [#start].
    public void into(Row row, Column column) {
        row.set(column, array, 0, size);
    }
}
