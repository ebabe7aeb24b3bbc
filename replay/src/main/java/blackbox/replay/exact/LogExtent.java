package blackbox.replay.exact;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/// How far a log of QEMU's record and replay goes, format 0xe0200c, without its header: an octet for each
/// event's kind and then its numbers, most significant octet first.
///
/// @param instructions how many are executed until the last whole event
/// @param events how many whole ones there are
/// @param bytes in whole events
/// @param end whether the last event is the log's end, which QEMU writes when it ends in order
public record LogExtent(long instructions, long events, long bytes, boolean end) {
    private static final int INSTRUCTION = 0;
    private static final int EXCEPTION = 2;
    private static final int BOTTOM_HALF = 3;
    private static final int BOTTOM_HALF_ONCE = 4;
    private static final int CHARACTERS = 7;
    private static final int BLOCK = 8;
    private static final int FRAME = 9;
    private static final int SHUTDOWN_FIRST = 10;
    private static final int SHUTDOWN_LAST = 21;
    private static final int CHARACTERS_WRITTEN = 22;
    private static final int RANDOM = 27;
    private static final int CLOCK_FIRST = 28;
    private static final int CLOCK_LAST = 29;
    private static final int CHECKPOINT_FIRST = 30;
    private static final int CHECKPOINT_LAST = 38;
    private static final int END = 39;
    /// More than any event of QEMU's carries: a longer one is damage.
    private static final int PAYLOAD_BYTES_MAX = 1 << 24;

    /// Reads a log to its end or to where it is cut.
    ///
    /// @param log without the header of 12 octets
    /// @throws IOException when it cannot be read, or holds what QEMU never writes
    public static LogExtent read(InputStream log) throws IOException {
        var in = new DataInputStream(new BufferedInputStream(log, 1 << 16));
        long instructions = 0;
        long events = 0;
        long bytes = 0;
        try {
            for (int kind = in.read(); kind >= 0; kind = in.read()) {
                if (kind == END) {
                    return new LogExtent(instructions, events + 1, bytes + 1, true);
                }
                if (kind == INSTRUCTION) {
                    instructions += Integer.toUnsignedLong(in.readInt());
                    bytes += Integer.BYTES;
                } else {
                    bytes += payload(kind, in);
                }
                events++;
                bytes++;
            }
        } catch (EOFException e) {
            return new LogExtent(instructions, events, bytes, false); // cut within an event
        }
        return new LogExtent(instructions, events, bytes, false);
    }

    private static long payload(int kind, DataInputStream in) throws IOException {
        if (kind <= EXCEPTION
                || kind >= SHUTDOWN_FIRST && kind <= SHUTDOWN_LAST
                || kind >= CHECKPOINT_FIRST && kind <= CHECKPOINT_LAST) {
            return 0;
        }
        return switch (kind) {
            case BOTTOM_HALF, BOTTOM_HALF_ONCE, BLOCK, CLOCK_FIRST, CLOCK_LAST, CHARACTERS_WRITTEN ->
                skip(in, Long.BYTES);
            case CHARACTERS -> skip(in, 1) + array(in);
            case FRAME -> skip(in, 1 + Integer.BYTES) + array(in);
            case RANDOM -> skip(in, Integer.BYTES) + array(in);
            default ->
                throw new IOException("the replay log holds an event of kind " + kind + ", which no machine of"
                        + " the exact tier makes");
        };
    }

    private static long array(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > PAYLOAD_BYTES_MAX) {
            throw new IOException("the replay log holds an event of " + Integer.toUnsignedString(length) + " octets");
        }
        return Integer.BYTES + skip(in, length);
    }

    private static long skip(DataInputStream in, int length) throws IOException {
        for (int left = length; left > 0; ) {
            int skipped = in.skipBytes(left);
            if (skipped <= 0) {
                in.readByte();
                skipped = 1;
            }
            left -= skipped;
        }
        return length;
    }
}
