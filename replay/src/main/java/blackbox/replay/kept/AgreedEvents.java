package blackbox.replay.kept;

import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.row.Column;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Which events of a run a re-execution of it has too, and in which frame of the tracer's there: a file, in the order
/// of the run's events. Only those are in it that have a frame.
public final class AgreedEvents {
    private static final byte[] MAGIC = "blackbox/agreed/v1\n".getBytes(StandardCharsets.US_ASCII);
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;

    /// @param file one that [Collector#write] wrote
    public AgreedEvents(Path file) {
        this.file = file;
    }

    /// An event that both have.
    ///
    /// @param index of the run's event
    /// @param seq the number of the frame that the re-execution emits for it
    public record Agreed(long index, long seq) {}

    /// The last agreed event at or before one; null if there is none.
    public @Nullable Agreed at(long index) throws IOException {
        Agreed found = null;
        try (Cursor cursor = open()) {
            for (Agreed each = cursor.next(); each != null && each.index() <= index; each = cursor.next()) {
                found = each;
            }
        }
        return found;
    }

    /// Walks over them.
    public Cursor open() throws IOException {
        return new Cursor(file);
    }

    /// Reads the file once. Owned by one thread.
    public static final class Cursor implements AutoCloseable {
        private final Path file;
        private final DataInputStream in;
        private long index;
        private long seq;
        private @Nullable Agreed here;

        private Cursor(Path file) throws IOException {
            this.file = file;
            this.in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES));
            try {
                if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
                    throw new IOException(file + " is not a list of agreed events, or of an unknown version");
                }
            } catch (IOException e) {
                in.close();
                throw e;
            }
        }

        /// The next one; null at the end.
        public @Nullable Agreed next() throws IOException {
            int first = in.read();
            if (first < 0) {
                here = null;
                return null;
            }
            index += varint(first);
            long zigzag = varint(in.readUnsignedByte());
            seq += zigzag >>> 1 ^ -(zigzag & 1);
            here = new Agreed(index, seq);
            return here;
        }

        /// Goes on to the first one at or after an event, unless it is there already; null if there is none.
        ///
        /// @param from in ascending order
        public @Nullable Agreed skipTo(long from) throws IOException {
            Agreed each = here == null ? next() : here;
            while (each != null && each.index() < from) {
                each = next();
            }
            return each;
        }

        private long varint(int first) throws IOException {
            long value = first & 0x7f;
            int octet = first;
            for (int shift = 7; (octet & 0x80) != 0; shift += 7) {
                if (shift > 63) {
                    throw new IOException(file + " is damaged: a number has too many octets");
                }
                try {
                    octet = in.readUnsignedByte();
                } catch (EOFException e) {
                    throw new IOException(file + " ends within a number", e);
                }
                value |= (long) (octet & 0x7f) << shift;
            }
            return value;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    /// Collects the agreements of an alignment, four octets for each event of the run. Owned by one thread.
    public static final class Collector implements Agreements {
        private static final int NONE = -1;

        private int[] actual = new int[1 << 12];
        private int length;

        @Override
        public void begin() {
            length = 0;
        }

        @Override
        public void agree(long recordedIndex, long actualIndex) {
            int at = Math.toIntExact(recordedIndex);
            if (at >= actual.length) {
                actual = Arrays.copyOf(actual, Math.max(at + 1, (int) Math.min(2L * at, Integer.MAX_VALUE - 8)));
            }
            if (at >= length) {
                Arrays.fill(actual, length, at + 1, NONE);
                length = at + 1;
            }
            actual[at] = Math.toIntExact(actualIndex);
        }

        /// Writes them to a new file.
        ///
        /// @param events of the re-execution
        /// @return how many
        public long write(Path file, EventSource events) throws IOException {
            long[] seqs = seqs(events);
            long count = 0;
            try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES))) {
                out.write(MAGIC);
                long index = 0;
                long seq = 0;
                for (int i = 0; i < length; i++) {
                    int other = actual[i];
                    if (other == NONE || other >= seqs.length || seqs[other] < 0) {
                        continue;
                    }
                    put(out, i - index);
                    long step = seqs[other] - seq;
                    put(out, step << 1 ^ step >> 63);
                    index = i;
                    seq = seqs[other];
                    count++;
                }
            }
            return count;
        }

        private static void put(DataOutputStream out, long value) throws IOException {
            long left = value;
            while ((left & ~0x7fL) != 0) {
                out.write((int) (left & 0x7f | 0x80));
                left >>>= 7;
            }
            out.write((int) left);
        }

        /// The frame of each event, -1 for one that has none.
        private static long[] seqs(EventSource events) throws IOException {
            var seqs = new long[1 << 12];
            int count = 0;
            try (EventCursor cursor = events.open(0)) {
                while (cursor.next()) {
                    int at = Math.toIntExact(cursor.index());
                    if (at >= seqs.length) {
                        seqs = Arrays.copyOf(seqs, Math.max(at + 1, 2 * seqs.length));
                    }
                    Arrays.fill(seqs, count, at, -1);
                    seqs[at] = cursor.row().has(Column.CPU_SEQ) ? cursor.row().number(Column.CPU_SEQ) : -1;
                    count = at + 1;
                }
            }
            return Arrays.copyOf(seqs, count);
        }
    }
}
