package blackbox.schemas.row;

/// Walks the elements of a STRING_LIST column without copying them.
public final class ListCursor {

    private final byte[] array;
    private final int end;
    private int next;
    private long remaining;
    private int offset;
    private int length;

    public ListCursor(Row row, Column column) {
        array = row.array(column);
        end = row.offset(column) + row.length(column);
        remaining = Varint.get(array, row.offset(column), end);
        next = row.offset(column) + Varint.size(remaining);
    }

    /// Moves to the next element; false when there is none.
    public boolean next() {
        if (remaining == 0) {
            return false;
        }
        remaining--;
        long size = Varint.get(array, next, end);
        offset = next + Varint.size(size);
        length = Math.toIntExact(size);
        next = offset + length;
        return true;
    }

    public byte[] array() {
        return array;
    }

    public int offset() {
        return offset;
    }

    public int length() {
        return length;
    }
}
