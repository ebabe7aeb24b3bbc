package blackbox.recorder.spool;

import blackbox.recorder.RecorderException;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Carries a run's batches from its spool to the broker, on its own thread. It reads back what is durable on
/// disk, so a slow or unreachable broker costs disk space, not memory, and what is sent is what would be sent
/// after a crash.
public final class SpoolPump implements AutoCloseable {

    private final Spool spool;
    private final BatchPublisher publisher;
    private final Thread thread;
    private volatile @Nullable Exception failure;
    private @Nullable Path current;
    private long offset;

    /// Starts with the first batch that the spool has.
    public SpoolPump(Spool spool, BatchPublisher publisher, String name) {
        this.spool = spool;
        this.publisher = publisher;
        this.thread = Thread.ofPlatform().name("pump-" + name).daemon().start(this::run);
    }

    /// What stopped the pump, or null. The spool keeps what was not acknowledged.
    public @Nullable Exception failure() {
        return failure;
    }

    private void run() {
        try {
            for (long sequence = spool.firstKept(); ; sequence++) {
                Spool.Position position = spool.await(sequence);
                if (position == null) {
                    return;
                }
                long sent = sequence;
                publisher.publish(read(position), () -> acknowledge(sent));
            }
        } catch (RecorderException | IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void acknowledge(long sequence) {
        try {
            spool.acknowledge(sequence);
        } catch (RecorderException e) {
            failure = e;
        }
    }

    private SealedBatch read(Spool.Position position) throws IOException {
        if (!position.file().equals(current)) {
            current = position.file();
            offset = 0;
        }
        try (FileChannel in = FileChannel.open(position.file())) {
            ByteBuffer header = fill(in, ByteBuffer.allocate(SpoolSegment.RECORD_OVERHEAD), offset);
            int length = header.getInt(0);
            if (length <= 0 || offset + SpoolSegment.RECORD_OVERHEAD + length > position.durableBytes()) {
                throw new IOException(
                        "the spool segment " + position.file() + " was changed while the recorder was using it");
            }
            int size = SpoolSegment.RECORD_OVERHEAD + length;
            SpoolSegment read = SpoolSegment.read(
                    fill(in, ByteBuffer.allocate(size), offset).array());
            if (read.fault() != null) {
                throw new IOException("the spool segment " + position.file() + " is damaged: " + read.fault());
            }
            offset += size;
            return read.batches().getFirst();
        }
    }

    private static ByteBuffer fill(FileChannel in, ByteBuffer buffer, long at) throws IOException {
        while (buffer.hasRemaining()) {
            if (in.read(buffer, at + buffer.position()) < 0) {
                throw new IOException("a spool segment ended early");
            }
        }
        return buffer;
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
