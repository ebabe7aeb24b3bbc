package blackbox.recorder.capture;

import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What an agent prints, stored while it passes on its way to whoever sees it: each stream in a file of its
/// own, piece by piece, with the time and the order in which the host received them.
///
/// A stream's storing stops at its limit, or when its file cannot be written; the output passes all the same. A
/// piece is in its file before it is passed on. Any thread may write, read the accessors or close it.
public final class KeptOutput implements Closeable {

    private final LongSupplier clock;
    private final int pieceBytesMin;
    private final Map<PrintedStream, Kept> streams = new EnumMap<>(PrintedStream.class);
    private long number;
    private long lastNs = Long.MIN_VALUE;
    private boolean closed;

    /// @param folder where the files are made with their first octets, readable by this user alone
    /// @param bytesMax the most octets of each stream; 0 stores none. A piece counts as at least as many octets
    ///     as its header has, so that a file is at most about twice as long as this
    /// @param clock nanoseconds since 1970 on the clock of the run's events
    public KeptOutput(Path folder, long bytesMax, LongSupplier clock) {
        this(folder, bytesMax, clock, OutputPiece.HEADER_BYTES);
    }

    private KeptOutput(Path folder, long bytesMax, LongSupplier clock, int pieceBytesMin) {
        this.clock = clock;
        this.pieceBytesMin = pieceBytesMin;
        for (PrintedStream stream : PrintedStream.values()) {
            streams.put(stream, new Kept(stream.capture().in(folder), bytesMax));
        }
    }

    /// Stores nothing.
    public static KeptOutput none() {
        return new KeptOutput(Path.of(""), 0, () -> 0);
    }

    /// One that stores exactly the first `octets` of each stream, however small the pieces in which they come: a file
    /// may be many times as long.
    public static KeptOutput first(long octets, Path folder, LongSupplier clock) {
        return new KeptOutput(folder, octets, clock, 1);
    }

    /// The files, to be sealed as they grow; none if nothing is stored.
    public List<CaptureFile> files() {
        var files = new ArrayList<CaptureFile>();
        streams.forEach((stream, kept) -> {
            if (kept.bytesMax > 0) {
                files.add(CaptureFile.cutByItsWriter(stream.word(), kept.file.path(), () -> isCut(kept)));
            }
        });
        return files;
    }

    /// A stream: what is written to it is stored and then goes to `shown`. Closing it says that there is nothing more,
    /// and leaves `shown` open.
    public OutputStream through(PrintedStream stream, OutputStream shown) {
        Kept kept = kept(stream);
        return new FilterOutputStream(shown) {
            @Override
            public void write(int octet) throws IOException {
                write(new byte[] {(byte) octet}, 0, 1);
            }

            @Override
            public void write(byte[] octets, int offset, int length) throws IOException {
                keep(kept, octets, offset, length);
                out.write(octets, offset, length);
            }

            @Override
            public void close() throws IOException {
                end(kept);
                out.flush();
            }
        };
    }

    /// How many octets were printed on a stream, whether or not they were stored.
    public synchronized long printedBytes(PrintedStream stream) {
        return kept(stream).printed;
    }

    /// Whether the stream's end was seen; if not, more of it may have been printed than is known.
    public synchronized boolean hasEnded(PrintedStream stream) {
        return kept(stream).ended;
    }

    private synchronized void end(Kept kept) {
        kept.ended = true;
    }

    /// How many octets of a stream are stored.
    public synchronized long storedBytes(PrintedStream stream) {
        return kept(stream).stored;
    }

    /// How many octets of a stream are stored, if its limit kept the others from it; null if all are.
    public synchronized @Nullable Long cutAt(PrintedStream stream) {
        Kept kept = kept(stream);
        return kept.cut && kept.bytesMax > 0 ? (Long) kept.stored : null;
    }

    /// What ended the storing of a stream, or null.
    public synchronized @Nullable IOException failure(PrintedStream stream) {
        return kept(stream).file.failure();
    }

    private Kept kept(PrintedStream stream) {
        Kept kept = streams.get(stream);
        if (kept == null) {
            throw new IllegalStateException("there is no " + stream);
        }
        return kept;
    }

    private synchronized boolean isCut(Kept kept) {
        return kept.cut;
    }

    private synchronized void keep(Kept kept, byte[] octets, int offset, int length) {
        for (int from = 0; from < length && !kept.cut && kept.file.failure() == null && !closed; ) {
            int count = Math.min(length - from, OutputPiece.BYTES_MAX);
            store(kept, octets, offset + from, count);
            from += count;
        }
        kept.printed += length;
    }

    private void store(Kept kept, byte[] octets, int offset, int count) {
        int fits = (int) Math.min(count, kept.left);
        if (fits > 0) {
            byte[] first = OutputPiece.VERSION_LINE.getBytes(StandardCharsets.US_ASCII);
            var form = ByteBuffer.allocate(first.length + OutputPiece.HEADER_BYTES + fits);
            if (!kept.file.isOpen()) {
                form.put(first);
            }
            lastNs = Math.max(lastNs, clock.getAsLong());
            OutputPiece.put(form, lastNs, number, octets, offset, fits);
            kept.file.write(form.flip());
            if (kept.file.failure() != null) {
                return;
            }
            number++;
            kept.stored += fits;
            kept.left = Math.max(0, kept.left - Math.max(fits, pieceBytesMin));
        }
        kept.cut |= fits < count;
    }

    /// Ends the storing; what is written from now on only passes.
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        for (Kept kept : streams.values()) {
            kept.file.close();
        }
    }

    /// One stream. Guarded by its owner.
    private static final class Kept {
        private final KeptFile file;
        private final long bytesMax;
        private long left;
        private long printed;
        private long stored;
        private boolean cut;
        private boolean ended;

        Kept(Path path, long bytesMax) {
            this.file = new KeptFile(path);
            this.bytesMax = bytesMax;
            this.left = bytesMax;
        }
    }
}
