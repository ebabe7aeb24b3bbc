package blackbox.node.serve.stream;

import blackbox.query.QueryException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/// Octets that a writer writes while they are read, and no faster. It runs in a thread of its own, which is interrupted
/// once the stream is closed, and gets an `IOException` at its next octets or flush. A writer that fails breaks the
/// stream off, so that nobody takes what there is for all.
public final class WrittenStream extends InputStream {

    private static final int PARTS_AHEAD = 8;
    private static final long LOOK_EVERY_MS = 200;
    private static final byte[] END = new byte[0];

    private final BlockingQueue<byte[]> parts = new ArrayBlockingQueue<>(PARTS_AHEAD);
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private byte[] part = END;
    private int at;
    private boolean over;
    private volatile boolean closed;
    private final Thread writing;

    /// Writes the octets.
    @FunctionalInterface
    public interface Writer {
        void write(OutputStream out) throws IOException, QueryException, InterruptedException;
    }

    private WrittenStream(Writer writer) {
        writing = Thread.ofVirtual().name("written-stream").unstarted(() -> run(writer));
    }

    /// Starts the writer, and waits until it first writes or flushes, or ends.
    ///
    /// @throws QueryException if it fails before that; there is no answer then
    public static WrittenStream of(Writer writer) throws IOException, QueryException {
        var stream = new WrittenStream(writer);
        stream.writing.start();
        try {
            stream.begun.get();
            return stream;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stream.close();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof QueryException refused) {
                throw refused;
            }
            throw new IOException(String.valueOf(e.getCause()), e);
        }
    }

    private void run(Writer writer) {
        try {
            writer.write(new Parts());
            ended.complete(null);
            put(END);
        } catch (IOException | QueryException | RuntimeException | InterruptedException | Error e) {
            ended.completeExceptionally(e);
            begun.completeExceptionally(e);
        }
    }

    /// What the writer writes to: each call gives a part.
    private final class Parts extends OutputStream {
        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] octets, int offset, int length) throws IOException {
            if (length > 0) {
                put(Arrays.copyOfRange(octets, offset, offset + length));
            }
        }

        @Override
        public void flush() throws IOException {
            look();
        }
    }

    private void look() throws IOException {
        begun.complete(null);
        if (closed) {
            throw new IOException("nobody reads it any more");
        }
    }

    private void put(byte[] octets) throws IOException {
        look();
        try {
            while (!parts.offer(octets, LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
                look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] octets, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        while (at == part.length) {
            if (over) {
                return -1;
            }
            next();
        }
        int count = Math.min(length, part.length - at);
        System.arraycopy(part, at, octets, offset, count);
        at += count;
        return count;
    }

    /// @throws IOException if the writer failed
    private void next() throws IOException {
        if (closed) {
            throw new IOException("it was closed");
        }
        try {
            byte[] next = parts.poll(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
            if (next == null) {
                if (ended.isCompletedExceptionally() && parts.isEmpty()) {
                    ended.get();
                }
            } else {
                part = next;
                at = 0;
                over = next.length == 0;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IOException("the answer broke off: " + e.getCause(), e);
        }
    }

    @Override
    public void close() {
        closed = true;
        writing.interrupt();
        parts.clear();
    }
}
