package blackbox.replay.compare;

import blackbox.recorder.guest.EventSink;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The events of a replay, in a temporary file that is deleted when this is closed: rows like those of a
/// recording, but unsealed. Any thread may add to it; it is read once all of them are done.
public final class EventTape implements EventSource, EventSink, AutoCloseable {

    /// A replay that produces more is ended: its recording had fewer.
    private static final long OCTETS_MAX = 8L << 30;

    private final long octetsMax;
    private final ScratchFolder scratch;
    private final Path file;
    private final DataOutputStream out;
    private final Row row = new Row();
    private final byte[] leaf = new byte[LeafCodec.BYTES_MAX];
    private long octets;
    private volatile @Nullable IOException failure;

    /// A tape in a new file in `folder`.
    public EventTape(Path folder) throws IOException {
        this(folder, OCTETS_MAX);
    }

    EventTape(Path folder, long octetsMax) throws IOException {
        this.octetsMax = octetsMax;
        try {
            this.scratch = ScratchFolder.ofThisProcess(folder, ".events-");
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
        this.file = scratch.path().resolve("tape");
        this.out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 16));
    }

    /// Adds an event. After one that cannot be stored, no more are, and [#failure] says why.
    @Override
    public synchronized void accept(Event event) {
        if (failure != null) {
            return;
        }
        EventRows.fill(event, row);
        int length = LeafCodec.encode(row, leaf, 0);
        octets += length;
        try {
            if (octets > octetsMax) {
                throw new IOException("they take more than " + octetsMax + " octets");
            }
            out.writeInt(length);
            out.write(leaf, 0, length);
        } catch (IOException e) {
            failure = new IOException("the replay's events cannot be stored in " + file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public @Nullable IOException failure() {
        return failure;
    }

    /// @throws IOException when an event could not be stored
    public void check() throws IOException {
        IOException why = failure;
        if (why != null) {
            throw why;
        }
    }

    /// Ends the writing, so that everything can be read.
    ///
    /// @throws IOException when an event could not be stored
    public synchronized void finish() throws IOException {
        check();
        out.flush();
    }

    @Override
    public Cursor open(long from) throws IOException {
        var cursor = new Cursor(Files.newInputStream(file));
        for (long i = 0; i < from && cursor.next(); i++) {}
        return cursor;
    }

    /// Walks over the events once. Owned by one thread.
    public static final class Cursor implements EventCursor {
        private final DataInputStream in;
        private final Row row = new Row();
        private long index = -1;

        private Cursor(InputStream in) {
            this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
        }

        @Override
        public boolean next() throws IOException {
            int length;
            try {
                length = in.readInt();
            } catch (EOFException e) {
                return false;
            }
            byte[] leaf = in.readNBytes(length); // the row points into it
            if (leaf.length < length || !LeafCodec.decode(leaf, 0, length, row)) {
                throw new IOException("the replay's events are damaged after event " + index);
            }
            index++;
            return true;
        }

        @Override
        public long index() {
            return index;
        }

        @Override
        public Row row() {
            return row;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    @Override
    public void close() throws IOException {
        try (out) {
            scratch.close();
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
