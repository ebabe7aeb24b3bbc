package blackbox.schemas.batch;

import blackbox.schemas.row.LeafCodec;

/// Walks the leaf entries of a batch: each a big-endian u16 length, an octet 0 (the RFC 6962 leaf prefix, so
/// that prefix and leaf are hashed in one piece) and the leaf.
public final class LeafCursor {

    /// Octets in front of each leaf.
    public static final int ENTRY_OVERHEAD = 3;

    private final byte[] array;
    private final int end;
    private int next;
    private int offset;
    private int length;

    LeafCursor(byte[] array, int from, int end) {
        this.array = array;
        this.next = from;
        this.end = end;
    }

    /// Writes the three octets that go in front of a leaf of `length` octets; returns where the leaf goes.
    public static int putEntryHeader(byte[] target, int at, int length) {
        if (length <= 0 || length > LeafCodec.BYTES_MAX) {
            throw new IllegalArgumentException("a leaf has 1 to " + LeafCodec.BYTES_MAX + " octets, not " + length);
        }
        target[at] = (byte) (length >>> 8);
        target[at + 1] = (byte) length;
        target[at + 2] = 0;
        return at + ENTRY_OVERHEAD;
    }

    /// Moves to the next leaf; false at the end, and if what follows is not an entry ([#atEnd] tells which).
    public boolean next() {
        if (end - next < ENTRY_OVERHEAD) {
            return false;
        }
        int size = (array[next] & 0xff) << 8 | array[next + 1] & 0xff;
        if (size == 0 || array[next + 2] != 0 || size > end - next - ENTRY_OVERHEAD) {
            return false;
        }
        offset = next + ENTRY_OVERHEAD;
        length = size;
        next = offset + size;
        return true;
    }

    /// Whether every octet has been walked.
    public boolean atEnd() {
        return next == end;
    }

    /// The array that holds the leaf; the octet in front of it is the leaf prefix.
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
