package blackbox.recorder.capture;

import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What an agent prints, stored while it passes on its way to whoever sees it: each stream in a file of its
/// own, piece by piece, with the time and the order in which the host received them.
///
/// A stream's storing stops at its limit, or when its file cannot be written; the output passes all the same. A
/// piece is in its file before it is passed on. Any thread may write, read the accessors or close it.
public final class KeptOutput implements Closeable {

    private final LongSupplier clock;
    private final Map<PrintedStream, Kept> streams = new EnumMap<>(PrintedStream.class);
    private long number;
    private boolean closed;

    /// @param folder where the files are made with their first octets, readable by this user alone
    /// @param bytesMax the most octets of each stream; 0 stores none. A piece counts as at least as many octets
    ///     as its header has, so that a file is at most about twice as long as this
    /// @param clock nanoseconds since 1970 on the clock of the run's events
    public KeptOutput(Path folder, long bytesMax, LongSupplier clock) {
        this.clock = clock;
        for (PrintedStream stream : PrintedStream.values()) {
            streams.put(stream, new Kept(stream.capture().in(folder), bytesMax));
        }
    }

    /// Stores nothing.
    public static KeptOutput none() {
        return new KeptOutput(Path.of(""), 0, () -> 0);
    }

    /// A limit with which so many octets are stored, however small the pieces in which they come.
    public static long limitFor(long octets) {
        return Math.multiplyExact(octets, (long) OutputPiece.HEADER_BYTES);
    }

    /// The files, to be sealed as they grow; none if nothing is stored.
    public List<CaptureFile> files() {
        var files = new ArrayList<CaptureFile>();
        streams.forEach((stream, kept) -> {
            if (kept.bytesMax > 0) {
                files.add(CaptureFile.cutByItsWriter(stream.word(), kept.path, () -> isCut(kept)));
            }
        });
        return files;
    }

    /// A stream: what is written to it is stored and then goes to `shown`.
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
        };
    }

    /// How many octets were printed on a stream, whether or not they were stored.
    public synchronized long printedBytes(PrintedStream stream) {
        return kept(stream).printed;
    }

    /// How many octets of a stream are stored, if its limit kept the others from it; null if all are.
    public synchronized @Nullable Long cutAt(PrintedStream stream) {
        Kept kept = kept(stream);
        return kept.cut && kept.bytesMax > 0 ? (Long) kept.stored : null;
    }

    /// What ended the storing of a stream, or null.
    public synchronized @Nullable IOException failure(PrintedStream stream) {
        return kept(stream).failure;
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
        if (closed) {
            return;
        }
        for (int from = 0; from < length && !kept.cut && kept.failure == null; ) {
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
            if (kept.file == null) {
                form.put(first);
            }
            OutputPiece.put(form, clock.getAsLong(), number++, octets, offset, fits);
            kept.write(form.flip());
            kept.stored += fits;
            kept.left = Math.max(0, kept.left - Math.max(fits, OutputPiece.HEADER_BYTES));
        }
        kept.cut |= fits < count;
    }

    /// Ends the storing; what is written from now on only passes.
    @Override
    public synchronized void close() throws IOException {
        closed = true;
        for (Kept kept : streams.values()) {
            FileChannel file = kept.file;
            if (file != null) {
                file.close();
            }
        }
    }

    /// One stream. Guarded by its owner.
    private static final class Kept {
        private final Path path;
        private final long bytesMax;
        private @Nullable FileChannel file;
        private long left;
        private long printed;
        private long stored;
        private boolean cut;
        private @Nullable IOException failure;

        Kept(Path path, long bytesMax) {
            this.path = path;
            this.bytesMax = bytesMax;
            this.left = bytesMax;
        }

        void write(ByteBuffer octets) {
            try {
                FileChannel to = file == null ? open() : file;
                file = to;
                while (octets.hasRemaining()) {
                    to.write(octets);
                }
            } catch (IOException e) {
                failure = e;
            }
        }

        private FileChannel open() throws IOException {
            var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
            return FileChannel.open(path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode);
        }
    }
}
