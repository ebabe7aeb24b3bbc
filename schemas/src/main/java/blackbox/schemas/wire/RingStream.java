package blackbox.schemas.wire;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Reads the tracer's stream: records of the BPF ring as in memory, that is a u32 length (the kernel's busy
/// and discard bits above it are never set here), a u32 without meaning here, the frame, and padding to 8
/// octets.
///
/// What cannot be a record is skipped octet by octet until something that can be one follows; skipped octets
/// are reported. Memory is bounded by [Frame#BYTES_MAX]. Owned by one thread.
public final class RingStream {

    /// An item of the stream.
    public sealed interface Item {
        /// A frame.
        record Whole(Frame frame) implements Item {}

        /// Octets that are not a frame.
        record Garbage(long octets) implements Item {}
    }

    private static final int RECORD_HEADER_BYTES = 8;
    /// Garbage is reported at least this often, so that endless garbage does not look like silence.
    private static final int GARBAGE_BYTES_MAX = 1 << 20;

    private static final int BUFFER_BYTES = 4 * Frame.BYTES_MAX;

    private final InputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private final ByteBuffer words = ByteBuffer.wrap(buffer).order(ByteOrder.LITTLE_ENDIAN);
    private int start;
    private int end;
    private boolean ended;

    public RingStream(InputStream in) {
        this.in = in;
    }

    /// The first of the frames that follow with a number; null if there is none. Garbage is passed over.
    public @Nullable Frame find(long seq) throws IOException {
        for (Item item = next(); item != null; item = next()) {
            if (item instanceof Item.Whole whole && whole.frame().cpuSeq() == seq) {
                return whole.frame();
            }
        }
        return null;
    }

    /// The next frame or run of garbage, waiting for it; null at the end.
    public @Nullable Item next() throws IOException {
        long skipped = 0;
        while (true) {
            int size = recordSize();
            if (size == 0) {
                skipped += end - start;
                start = end;
                return skipped == 0 ? null : new Item.Garbage(skipped);
            }
            Frame frame = size < 0 ? null : frameAt();
            if (frame == null) {
                skipped++;
                start++;
                if (skipped == GARBAGE_BYTES_MAX) {
                    return new Item.Garbage(skipped);
                }
            } else if (skipped > 0) {
                return new Item.Garbage(skipped);
            } else {
                start += size;
                return new Item.Whole(frame);
            }
        }
    }

    /// Size of the record at the start with its header and padding, once all of it has arrived; -1 if there
    /// cannot be one, 0 at the end.
    private int recordSize() throws IOException {
        if (!has(RECORD_HEADER_BYTES)) {
            return 0;
        }
        int length = words.getInt(start);
        if (length < Frame.HEADER_BYTES || length > Frame.BYTES_MAX) {
            return -1;
        }
        if (!has(RECORD_HEADER_BYTES + Frame.HEADER_BYTES)) {
            return -1;
        }
        if (words.getInt(start + RECORD_HEADER_BYTES) != Frame.MAGIC) {
            return -1;
        }
        int size = RECORD_HEADER_BYTES + (length + 7 & ~7);
        return has(size) ? size : -1;
    }

    private @Nullable Frame frameAt() {
        int length = words.getInt(start);
        int from = start + RECORD_HEADER_BYTES;
        return Frame.parse(Arrays.copyOfRange(buffer, from, from + length), 0, length);
    }

    /// Whether `count` octets are available from the start, after reading as many as are needed and
    /// available.
    private boolean has(int count) throws IOException {
        while (end - start < count && !ended) {
            if (buffer.length - start < count || start > buffer.length / 2) {
                System.arraycopy(buffer, start, buffer, 0, end - start);
                end -= start;
                start = 0;
            }
            int read = in.read(buffer, end, buffer.length - end);
            ended = read < 0;
            end += Math.max(read, 0);
        }
        return end - start >= count;
    }
}
