package blackbox.vault.stream;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;

/// Reads a stream on a thread of its own, at most 1.5 MiB ahead of its reader: what the stream does to its
/// octets, such as decrypting and checking them, is done while the reader works. Where reading failed, the
/// reader gets the same exception, after the octets that came before. Owned by one thread; until it is
/// closed, `in` belongs to its own.
public final class ReadAheadInput extends InputStream {

    /// Of a shorter stream, a thread would cost more than it saves.
    private static final long WORTHWHILE_BYTES = 1 << 17;

    private final InputStream in;
    private final Handover handover = new Handover();
    private final Thread thread;

    /// Written before the end is handed over, and read after it.
    private @Nullable Throwable failure;

    private Handover.@Nullable Buffer buffer;
    private int from;
    private boolean ended;
    private boolean closed;

    /// Begins to read a stream, if it is long enough for that to pay off; otherwise returns it as it is.
    ///
    /// @param bytes how many octets it has
    public static InputStream of(InputStream in, long bytes, String name) {
        return bytes < WORTHWHILE_BYTES ? in : new ReadAheadInput(in, name);
    }

    /// Begins to read.
    ///
    /// @param in which this closes
    /// @param name of the thread, for people
    public ReadAheadInput(InputStream in, String name) {
        this.in = in;
        this.thread = Thread.ofPlatform().daemon().name(name).start(this::readAll);
    }

    private void readAll() {
        try {
            boolean more = true;
            while (more) {
                Handover.Buffer next = handover.take();
                try {
                    more = fill(next);
                } finally {
                    handover.put(next); // also what came before a failure
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        } catch (InterruptedException _) {
            // It was closed before its end.
        } finally {
            handover.end();
        }
    }

    private boolean fill(Handover.Buffer next) throws IOException {
        while (next.length < next.octets.length) {
            int count = in.read(next.octets, next.length, next.octets.length - next.length);
            if (count < 0) {
                return false;
            }
            next.length += count;
        }
        return true;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        if (count == 0) {
            return 0;
        }
        Handover.Buffer here = filled();
        if (here == null) {
            return -1;
        }
        int part = Math.min(count, here.length - from);
        System.arraycopy(here.octets, from, into, offset, part);
        from += part;
        return part;
    }

    /// A buffer with octets that were not returned yet; null at the end.
    private Handover.@Nullable Buffer filled() throws IOException {
        while (!ended && (buffer == null || from == buffer.length)) {
            if (buffer != null) {
                handover.emptied(buffer);
                buffer = null; // it is the other thread's, also if this one is interrupted now
            }
            buffer = next();
            from = 0;
            ended = buffer == null;
        }
        if (ended) {
            Threads.rethrow(failure);
        }
        return buffer;
    }

    private Handover.@Nullable Buffer next() throws InterruptedIOException {
        try {
            return handover.next();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while reading");
        }
    }

    /// Ends the thread, and closes `in` when it has ended.
    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            thread.interrupt();
            Threads.join(thread);
            if (buffer != null) {
                handover.emptied(buffer);
            }
            handover.clear();
            in.close();
        }
    }
}
