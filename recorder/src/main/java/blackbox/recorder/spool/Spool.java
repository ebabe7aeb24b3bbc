package blackbox.recorder.spool;

import blackbox.files.Folders;
import blackbox.recorder.RecorderException;
import blackbox.recorder.seal.BatchSink;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One run's spool: `<folder>/<run>/<first batch, 12 digits>.seg`, written by the run's writer, read by its publisher.
///
/// [#write] returns after fsync. A segment is deleted when the broker has acknowledged every batch in it.
/// All methods are safe to call from several threads; there is one writer.
public final class Spool implements BatchSink, AutoCloseable {

    /// A segment's file, the first batch in it, and how many octets of it are durable.
    private static final class Segment {
        final Path file;
        final long firstSequence;
        long durableBytes;
        long lastSequence = -1;
        boolean finished;

        Segment(Path file, long firstSequence) {
            this.file = file;
            this.firstSequence = firstSequence;
        }
    }

    private final Path folder;
    private final Deque<Segment> segments = new ArrayDeque<>();
    private @Nullable FileChannel channel;
    /// The last batch that the broker has with all before it.
    private long acknowledged = -1;
    /// Batches behind that one that it has too.
    private final Set<Long> early = new HashSet<>();
    private long written = -1;
    private boolean closed;
    private boolean retained;

    private Spool(Path folder) {
        this.folder = folder;
    }

    /// Starts the spool of a new run below `root`.
    ///
    /// @throws RecorderException when the folder already exists or cannot be created
    public static Spool create(Path root, RunId run) throws RecorderException {
        try {
            Files.createDirectories(root);
            Path folder = Files.createDirectory(root.resolve(run.value()));
            Folders.sync(root);
            return new Spool(folder);
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.SPOOL, "cannot create the spool folder below " + root + ": " + reason(e), e);
        }
    }

    @Override
    public synchronized void write(SealedBatch batch) throws RecorderException {
        if (batch.sequence() != written + 1 || closed) {
            throw new IllegalStateException("batch " + batch.sequence() + " does not follow batch " + written);
        }
        try {
            FileChannel out = channelFor(batch.sequence());
            byte[] payload = batch.octets();
            var record = new ByteBuffer[] {SpoolSegment.recordHeader(payload), ByteBuffer.wrap(payload)};
            long left = SpoolSegment.RECORD_OVERHEAD + (long) payload.length;
            for (long rest = left; rest > 0; ) {
                rest -= out.write(record);
            }
            out.force(false);
            Segment segment = segments.getLast();
            segment.durableBytes += left;
            segment.lastSequence = batch.sequence();
            segment.finished = segment.durableBytes >= SpoolSegment.FULL_BYTES;
            written = batch.sequence();
            notifyAll();
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.SPOOL,
                    "cannot write the spool in " + folder + " (" + reason(e)
                            + "); what was recorded before is kept; free some space there and start the run again",
                    e);
        }
    }

    private FileChannel channelFor(long sequence) throws IOException {
        if (channel != null && !segments.isEmpty() && !segments.getLast().finished) {
            return channel;
        }
        if (channel != null) {
            channel.close();
        }
        Path file = folder.resolve("%012d.seg".formatted(sequence));
        channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        Folders.sync(folder);
        segments.addLast(new Segment(file, sequence));
        return channel;
    }

    /// The broker has batch `sequence`. That says nothing about those before it: a segment goes when each batch in
    /// it was acknowledged.
    public synchronized void acknowledge(long sequence) throws RecorderException {
        if (sequence > acknowledged) {
            early.add(sequence);
        }
        while (early.remove(acknowledged + 1)) {
            acknowledged++;
        }
        dropAcknowledged();
    }

    private void dropAcknowledged() throws RecorderException {
        try {
            while (!segments.isEmpty() && releasable(segments.getFirst())) {
                Segment segment = segments.removeFirst();
                if (segments.isEmpty() && channel != null) {
                    channel.close();
                    channel = null;
                }
                Files.delete(segment.file);
            }
            if (closed && segments.isEmpty()) {
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            throw new RecorderException(
                    RecorderException.Code.SPOOL, "cannot clear the spool in " + folder + ": " + reason(e), e);
        }
        notifyAll();
    }

    private boolean releasable(Segment segment) {
        return !retained && (segment.finished || closed) && segment.lastSequence <= acknowledged;
    }

    /// Keeps from now on what the broker has taken: whoever reads the run before ingest has it finds it here. What
    /// is still here when the process ends is sent once more by the next recorder, and ingest drops it.
    public synchronized void retain() {
        retained = true;
    }

    /// Ends [#retain].
    public synchronized void release() throws RecorderException {
        retained = false;
        dropAcknowledged();
    }

    /// Ends the writing; what is in the spool stays until it is acknowledged.
    @Override
    public synchronized void close() throws RecorderException {
        closed = true;
        dropAcknowledged();
    }

    /// Waits until the broker has everything that was written, for at most `timeoutNs`.
    ///
    /// @return whether it has
    public synchronized boolean awaitEmpty(long timeoutNs) throws InterruptedException {
        long deadline = System.nanoTime() + timeoutNs;
        while (acknowledged < written) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    /// The first batch that the spool still has, or will have next: where a pump starts. Batches that the
    /// broker already has are sent twice, and ingest drops the duplicates.
    synchronized long firstKept() {
        return segments.isEmpty() ? written + 1 : segments.getFirst().firstSequence;
    }

    /// Where the durable octets of the segment with `sequence` are, waiting until there are some.
    ///
    /// @return null when the spool was closed and has no such batch
    synchronized @Nullable Position await(long sequence) throws InterruptedException {
        while (written < sequence) {
            if (closed) {
                return null;
            }
            wait();
        }
        for (Segment segment : segments) {
            if (sequence <= segment.lastSequence) {
                return new Position(segment.file, segment.durableBytes);
            }
        }
        throw new IllegalStateException("batch " + sequence + " has left the spool already");
    }

    /// A segment's file and how many of its octets may be read.
    record Position(Path file, long durableBytes) {}

    private static String reason(IOException e) {
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }
}
