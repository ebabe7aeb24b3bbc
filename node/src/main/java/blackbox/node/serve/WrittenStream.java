package blackbox.node.serve;

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

/// Octets that a writer writes while they are read, and no faster: it runs in a thread of its own, and ends with an
/// `IOException` at its next octets once the stream is closed. A writer that fails breaks the stream off, so that
/// nobody takes what there is for all.
final class WrittenStream extends InputStream {

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

    /// Writes the octets.
    @FunctionalInterface
    interface Writer {
        void write(OutputStream out) throws IOException, QueryException, InterruptedException;
    }

    private WrittenStream() {}

    /// Starts the writer, and waits for its first octets or its end.
    ///
    /// @throws QueryException if it fails before its first octets; there is no answer then
    static WrittenStream of(Writer writer) throws IOException, QueryException {
        var stream = new WrittenStream();
        Thread.ofVirtual().name("written-stream").start(() -> stream.run(writer));
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
        } catch (IOException | QueryException | RuntimeException | InterruptedException e) {
            ended.completeExceptionally(e);
            begun.completeExceptionally(e);
        }
        begun.complete(null);
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
    }

    private void put(byte[] octets) throws IOException {
        try {
            begun.complete(null);
            while (!parts.offer(octets, LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
                if (closed) {
                    throw new IOException("nobody reads it any more");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (closed) {
            throw new IOException("nobody reads it any more");
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
        parts.clear();
    }
}
