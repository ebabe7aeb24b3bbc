package blackbox.vault.stream;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/// Writes to a stream on a thread of its own, at most 1.5 MiB behind its writer: what the stream does to its
/// octets, such as encrypting them, is done while the writer works. Only [#drain] says that all of it was
/// written; where that failed, it and the next write throw the same exception. Owned by one thread; until it
/// is drained or closed, `out` belongs to its own.
public final class WriteBehindOutput extends OutputStream {

    private final OutputStream out;
    private final Handover handover = new Handover();
    private final Thread thread;
    private volatile @Nullable Throwable failure;
    private Handover.@Nullable Buffer buffer;
    private boolean ended;
    private boolean closed;

    /// @param out gets the octets, and stays open
    /// @param name of the thread, for people
    public WriteBehindOutput(OutputStream out, String name) {
        this.out = out;
        this.thread = Thread.ofPlatform().daemon().name(name).start(this::writeAll);
    }

    private void writeAll() {
        try {
            for (Handover.Buffer next = handover.next(); next != null; next = handover.next()) {
                if (failure == null) {
                    write(next);
                }
                handover.emptied(next); // also after a failure, which the writer may be waiting to see
            }
        } catch (InterruptedException _) {
            // It was closed before its end.
        }
    }

    private void write(Handover.Buffer next) {
        try {
            out.write(next.octets, 0, next.length);
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int from, int count) throws IOException {
        if (ended) {
            throw new IOException("the stream is closed");
        }
        for (int done = 0; done < count; ) {
            Handover.Buffer here = buffer == null ? empty() : buffer;
            int part = Math.min(count - done, here.octets.length - here.length);
            System.arraycopy(octets, from + done, here.octets, here.length, part);
            here.length += part;
            done += part;
            buffer = here;
            if (here.length == here.octets.length) {
                handOver();
            }
        }
    }

    private Handover.Buffer empty() throws IOException {
        Threads.rethrow(failure);
        try {
            return handover.take();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while writing");
        }
    }

    private void handOver() {
        if (buffer != null) {
            handover.put(buffer);
            buffer = null;
        }
    }

    /// Waits until `out` has everything. Nothing may be written afterwards.
    ///
    /// @throws IOException when something could not be written
    public void drain() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        end();
        Threads.join(thread);
        Threads.rethrow(failure);
    }

    private void end() {
        if (!ended) {
            ended = true;
            handOver();
            handover.end();
        }
    }

    /// Ends the thread. What was not drained may be lost.
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        end();
        Threads.join(thread);
        handover.clear();
    }
}
