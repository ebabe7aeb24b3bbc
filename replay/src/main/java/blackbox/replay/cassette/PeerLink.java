package blackbox.replay.cassette;

import blackbox.gateway.tls.RunAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Carries frames between a machine's network socket and a [CassettePeer], on its own thread, which ends with
/// the socket. Each frame is preceded by its length, an unsigned 32-bit number, most significant octet first.
/// While the machine does not accept frames, none are read from it either.
public final class PeerLink implements AutoCloseable {
    private static final int FRAME_BYTES_MAX = 1 << 18;
    private static final int LENGTH_BYTES = 4;
    private static final int WAITING_BYTES_MAX = 4 << 20;

    private final SocketChannel channel;
    private final CassettePeer peer;
    private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private final ByteBuffer in = ByteBuffer.allocate(FRAME_BYTES_MAX + LENGTH_BYTES);
    private final Thread thread;
    private volatile @Nullable Exception failure;

    /// Starts playing.
    ///
    /// @param channel to the machine; this object takes ownership of it
    /// @param authority that the guest trusts, to open TLS where it was opened; null if it never was
    /// @param misses receives what was refused, on this link's thread
    public PeerLink(SocketChannel channel, Cassette cassette, @Nullable RunAuthority authority, Consumer<Miss> misses) {
        this.channel = channel;
        this.peer = new CassettePeer(cassette, authority, this::enqueue, misses);
        this.thread = Thread.ofPlatform().name("cassette").start(this::run);
    }

    /// Waits for the machine's end of the socket to close, and returns what was played.
    ///
    /// @throws IOException when the captures could not be read, or the machine sent something that is not a
    ///     frame
    public CassettePeer.Played awaitEnd() throws IOException, InterruptedException {
        thread.join();
        Exception why = failure;
        if (why != null) {
            throw new IOException("the recorded network could not be played to the end: " + why.getMessage(), why);
        }
        try {
            return peer.played();
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /// Closes the socket, and waits for the thread to end.
    @Override
    public void close() throws IOException {
        channel.close();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (channel;
                Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            boolean open = true;
            while (open) {
                long due = peer.tick(System.nanoTime());
                flush();
                int read = waitingBytes < WAITING_BYTES_MAX ? SelectionKey.OP_READ : 0;
                key.interestOps(read | (waiting.isEmpty() ? 0 : SelectionKey.OP_WRITE));
                await(selector, due);
                open = !key.isReadable() || receive();
            }
        } catch (ClosedChannelException | CancelledKeyException e) {
            return; // the machine was ended under us
        } catch (IOException | RuntimeException e) {
            failure = e; // also a fault of ours: the guest chose the frames
        }
    }

    private static void await(Selector selector, long due) throws IOException {
        if (due == PeerConnection.NO_TIMER) {
            selector.select();
        } else {
            long millis = TimeUnit.NANOSECONDS.toMillis(due - System.nanoTime());
            selector.select(Math.max(1, millis));
        }
        selector.selectedKeys().clear();
    }

    /// Takes what has come; false at the end.
    private boolean receive() throws IOException {
        if (channel.read(in) < 0) {
            return false;
        }
        in.flip();
        while (in.remaining() >= LENGTH_BYTES) {
            int length = in.getInt(in.position());
            if (length < 0 || length > FRAME_BYTES_MAX) {
                throw new IOException("the machine sent a frame of " + Integer.toUnsignedString(length) + " octets");
            }
            if (in.remaining() < LENGTH_BYTES + length) {
                break;
            }
            in.getInt();
            var frame = new byte[length];
            in.get(frame);
            peer.frame(frame, System.nanoTime());
        }
        in.compact();
        return true;
    }

    private void enqueue(byte[] frame) {
        ByteBuffer buffer = ByteBuffer.allocate(LENGTH_BYTES + frame.length);
        waiting.add(buffer.putInt(frame.length).put(frame).flip());
        waitingBytes += frame.length;
    }

    private void flush() throws IOException {
        while (!waiting.isEmpty()) {
            ByteBuffer first = waiting.getFirst();
            channel.write(first);
            if (first.hasRemaining()) {
                return;
            }
            waitingBytes -= first.capacity() - LENGTH_BYTES;
            waiting.removeFirst();
        }
    }
}
