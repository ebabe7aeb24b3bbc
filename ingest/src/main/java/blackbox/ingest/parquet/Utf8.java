package blackbox.ingest.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;

/// Whether octets may be in a string column: Parquet and Iceberg strings are well-formed UTF-8.
final class Utf8 {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Utf8() {}

    static boolean isWellFormed(byte[] array, int offset, int length) {
        int at = offset;
        int end = offset + length;
        while (end - at >= 8 && ((long) LONGS.get(array, at) & HIGH_BITS) == 0) {
            at += 8;
        }
        while (at < end && array[at] >= 0) {
            at++;
        }
        return at == end || decodes(array, at, end - at);
    }

    /// Without an exception where it does not: a guest may have a million strings that do not.
    private static boolean decodes(byte[] array, int offset, int length) {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(array, offset, length), CharBuffer.allocate(length), true)
                .isUnderflow();
    }

    /// The octets with U+FFFD where they are not UTF-8.
    static byte[] replaced(byte[] array, int offset, int length) {
        return new String(array, offset, length, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
    }
}
