package blackbox.schemas.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// One value of a frame: a slice of the frame's octets, which are not to be changed.
///
/// @param originalLength length before it was cut, unsigned; [#LENGTH_UNKNOWN] where that is not known
public record Tlv(int type, int flags, long originalLength, byte[] array, int offset, int length) {

    /// The value was cut.
    public static final int TRUNCATED = 1;
    /// The value could not be read, or not to its end.
    public static final int FAULT = 2;
    /// The path's file had been unlinked.
    public static final int DELETED = 4;
    /// The path does not reach the root of the mount tree.
    public static final int DETACHED = 8;
    /// An original length that is not known.
    public static final long LENGTH_UNKNOWN = 0xffffffffL;

    public boolean is(int flag) {
        return (flags & flag) != 0;
    }

    /// A copy of the octets.
    public byte[] toBytes() {
        return Arrays.copyOfRange(array, offset, offset + length);
    }

    /// The u16 at `at`; 0 beyond the end, as if the rest were zeros.
    public int u16(int at) {
        return at + 2 > length ? 0 : Short.toUnsignedInt(buffer().getShort(at));
    }

    /// The u32 at `at`; 0 beyond the end.
    public long u32(int at) {
        return at + 4 > length ? 0 : Integer.toUnsignedLong(buffer().getInt(at));
    }

    /// The u64 at `at`, as a signed long; 0 beyond the end.
    public long u64(int at) {
        return at + 8 > length ? 0 : buffer().getLong(at);
    }

    private ByteBuffer buffer() {
        return ByteBuffer.wrap(array, offset, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    }
}
