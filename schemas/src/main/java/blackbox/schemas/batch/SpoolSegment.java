package blackbox.schemas.batch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// A spool segment: records of u32 length, u32 CRC-32C of the payload, and the payload, a [SealedBatch]; all
/// big-endian. Both the reader and the writer of the format are here; see `schemas/batch.md`.
///
/// @param batches those that could be read, in order
/// @param length how many octets those take
/// @param fault what is wrong after them, or null if the segment ends with a complete record
public record SpoolSegment(
        List<SealedBatch> batches, int length, @Nullable String fault) {

    /// Octets in front of each payload.
    public static final int RECORD_OVERHEAD = 8;

    /// From this length on no further batch is written to a segment.
    public static final int FULL_BYTES = 16 << 20;

    /// The greatest length: almost full, and the longest batch.
    public static final int BYTES_MAX = FULL_BYTES + RECORD_OVERHEAD + SealedBatch.BYTES_MAX;

    public SpoolSegment {
        batches = List.copyOf(batches);
    }

    /// The header that goes in front of `payload`.
    public static ByteBuffer recordHeader(byte[] payload) {
        return ByteBuffer.allocate(RECORD_OVERHEAD)
                .putInt(payload.length)
                .putInt(crc(payload))
                .flip();
    }

    /// Reads a segment as far as it is readable.
    public static SpoolSegment read(byte[] octets) {
        ByteBuffer in = ByteBuffer.wrap(octets);
        var batches = new ArrayList<SealedBatch>();
        while (in.hasRemaining()) {
            int start = in.position();
            String fault = readRecord(in, batches);
            if (fault != null) {
                return new SpoolSegment(batches, start, "octet " + start + ": " + fault);
            }
        }
        return new SpoolSegment(batches, octets.length, null);
    }

    private static @Nullable String readRecord(ByteBuffer in, List<SealedBatch> batches) {
        if (in.remaining() < RECORD_OVERHEAD) {
            return "the record is cut off";
        }
        int length = in.getInt();
        int crc = in.getInt();
        if (length <= 0 || length > SealedBatch.BYTES_MAX) {
            return "the record claims " + Integer.toUnsignedString(length) + " octets";
        }
        if (length > in.remaining()) {
            return "the record is cut off";
        }
        var payload = new byte[length];
        in.get(payload);
        if (crc(payload) != crc) {
            return "the record's checksum does not match";
        }
        try {
            batches.add(SealedBatch.decode(payload));
            return null;
        } catch (MalformedBatchException e) {
            return e.getMessage();
        }
    }

    private static int crc(byte[] payload) {
        var crc = new CRC32C();
        crc.update(payload, 0, payload.length);
        return (int) crc.getValue();
    }
}
