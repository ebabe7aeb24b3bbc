package blackbox.node.replay;

import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.replay.divergence.EventCursor;
import blackbox.replay.divergence.EventSource;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// The events of a replay, in a file of their own that is gone when this is closed: rows as a recording has
/// them, with nothing sealed. Any thread may append; it is read when all have.
final class EventTape implements EventSource, AutoCloseable {

    /// A replay that makes more is ended: its recording had not so many.
    static final long OCTETS_MAX = 8L << 30;

    private final Path file;
    private final DataOutputStream out;
    private final Row row = new Row();
    private final byte[] leaf = new byte[LeafCodec.BYTES_MAX];
    private long octets;

    /// A tape in a new file in `folder`.
    EventTape(Path folder) throws IOException {
        Files.createDirectories(folder);
        this.file = Files.createTempFile(folder, ".events-", ".tape");
        this.out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 16));
    }

    /// Adds an event.
    ///
    /// @throws RecorderException `DISK_FULL` or another, when it cannot be kept
    synchronized void append(Event event) throws RecorderException {
        EventRows.fill(event, row);
        int length = LeafCodec.encode(row, leaf, 0);
        octets += length;
        try {
            if (octets > OCTETS_MAX) {
                throw new IOException("a replay of more than " + OCTETS_MAX + " octets of events");
            }
            out.writeInt(length);
            out.write(leaf, 0, length);
        } catch (IOException e) {
            throw new RecorderException(Code.CAPTURE, "the replay's events cannot be kept in " + file, e);
        }
    }

    /// Ends the appending, so that everything can be read.
    synchronized void finish() throws IOException {
        out.flush();
    }

    @Override
    public Cursor open(long from) throws IOException {
        var cursor = new Cursor(Files.newInputStream(file));
        for (long i = 0; i < from && cursor.next(); i++) {}
        return cursor;
    }

    /// Walks over the events once. Owned by one thread.
    static final class Cursor implements EventCursor {
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
                throw new IOException("the replay's events are damaged behind event " + index);
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
            Files.deleteIfExists(file);
        }
    }
}
