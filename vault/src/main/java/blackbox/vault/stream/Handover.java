package blackbox.vault.stream;

import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/// A few buffers that go round between a thread that fills them and one that empties them.
final class Handover {

    private static final int BUFFER_BYTES = 1 << 18;
    private static final int BUFFERS = 6;
    private static final Buffer END = new Buffer(0);

    /// A buffer, owned by whoever took it last.
    static final class Buffer {
        final byte[] octets;

        /// How many of them are filled.
        int length;

        Buffer(int bytes) {
            this.octets = new byte[bytes];
        }
    }

    private final ArrayBlockingQueue<Buffer> empty = new ArrayBlockingQueue<>(BUFFERS);

    /// Has room for all of them and the end, so that nobody waits to hand one over.
    private final ArrayBlockingQueue<Buffer> filled = new ArrayBlockingQueue<>(BUFFERS + 1);

    /// How many there are: a short stream needs no more than one. Owned by the thread that fills them.
    private int made;

    /// Waits for a buffer to fill.
    Buffer take() throws InterruptedException {
        Buffer free = empty.poll();
        if (free == null && made < BUFFERS) {
            made++;
            return new Buffer(BUFFER_BYTES);
        }
        return free == null ? empty.take() : free;
    }

    /// Hands over what was filled.
    void put(Buffer buffer) {
        filled.add(buffer);
    }

    /// Says that nothing follows.
    void end() {
        filled.add(END);
    }

    /// Waits for octets; null when nothing follows.
    @Nullable
    Buffer next() throws InterruptedException {
        Buffer next = filled.take();
        return next == END ? null : next;
    }

    /// Gives back what [#next] returned.
    void emptied(Buffer buffer) {
        buffer.length = 0;
        empty.add(buffer);
    }

    /// Overwrites what the buffers hold. Nobody may have one anymore.
    void clear() {
        empty.forEach(buffer -> Arrays.fill(buffer.octets, (byte) 0));
        filled.forEach(buffer -> Arrays.fill(buffer.octets, (byte) 0));
    }
}
