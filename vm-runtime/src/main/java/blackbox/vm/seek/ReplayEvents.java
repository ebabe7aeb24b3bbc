package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// Reads QEMU's log of a recording, format 0xe0200c, event by event: a header of 12 octets, then for each event
/// its kind and its data, numbers most significant octet first. Executing a number of instructions is an event
/// like any other.
public final class ReplayEvents implements AutoCloseable {
    /// A number of instructions is executed.
    public static final int INSTRUCTIONS = 0;
    /// A disk request has completed.
    public static final int BLOCK = 8;
    /// QEMU read a host clock that stops while the machine is stopped.
    public static final int HOST_CLOCK = 29;
    /// Timers of the guest's clock have expired.
    public static final int CLOCK_VIRTUAL = 34;
    /// The recording ended cleanly.
    public static final int END = 39;

    static final int HEADER_BYTES = 12;
    /// More data than any event has: a longer one means damage.
    private static final int DATA_BYTES_MAX = 1 << 24;
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream in;
    /// Read here and not through the JDK's streams: their locks cost more than everything else.
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int from;
    private int to;
    private long read;
    private long at;
    private int kind = -1;
    private long instructions;
    private long value;

    private ReplayEvents(InputStream in, long read) {
        this.read = read;
        this.in = in;
    }

    /// Opens a log.
    public static ReplayEvents open(Path log) throws IOException {
        var events = new ReplayEvents(Files.newInputStream(log), HEADER_BYTES);
        events.pass(HEADER_BYTES);
        return events;
    }

    /// Reads the events of a log whose header was left out: positions count from its first event.
    public static ReplayEvents withoutHeader(InputStream events) {
        return new ReplayEvents(events, 0);
    }

    /// Moves to the next event. False at the end, including that of a log that ends within an event: its QEMU
    /// was killed.
    public boolean next() throws IOException, VmException {
        at = read;
        try {
            kind = octet();
            read++;
            body();
            return true;
        } catch (EOFException e) {
            return false;
        }
    }

    /// The kind of this event.
    public int kind() {
        return kind;
    }

    /// Where it begins in the log.
    public long at() {
        return at;
    }

    /// Where it ends in the log.
    public long end() {
        return read;
    }

    /// Instructions up to the end of this event.
    public long instructions() {
        return instructions;
    }

    /// The value of this event: for [#INSTRUCTIONS] how many, for [#HOST_CLOCK] nanoseconds. Others have
    /// none.
    public long value() {
        return value;
    }

    /// How many disk requests complete in the log before octet `to`.
    public static long blocks(Path log, long to) throws IOException, VmException {
        try (var events = open(log)) {
            long count = 0;
            while (events.next() && events.at() < to) {
                count += events.kind() == BLOCK ? 1 : 0;
            }
            return count;
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private void body() throws IOException, VmException {
        switch (kind) {
            case INSTRUCTIONS -> {
                value = number();
                instructions += value;
                read += Integer.BYTES;
            }
            case HOST_CLOCK -> {
                value = number() << Integer.SIZE | number();
                read += Long.BYTES;
            }
            case 3, 4, BLOCK, 28 -> skip(Long.BYTES); // numbers of deferred calls and requests, the time of day
            case 7 -> data(1); // octets that a character device received
            case 9 -> data(1 + Integer.BYTES); // a frame that the network card received
            case 22 -> skip(2 * Integer.BYTES); // the result of a write to a character device
            case 23 -> data(0); // octets that a character device read at once
            case 24 -> skip(Integer.BYTES);
            case 27 -> data(Integer.BYTES); // random octets
            default -> {
                // Interrupts, exceptions, ways to shut down, checkpoints: the kind says it all.
                boolean known = kind <= 2 || kind >= 10 && kind <= 21 || kind >= 30 && kind <= END;
                if (!known) {
                    throw new VmException(
                            Code.QEMU_FAILED, "the replay log has an event of kind " + kind + " at octet " + at);
                }
            }
        }
    }

    private void data(int before) throws IOException, VmException {
        skip(before);
        long length = number();
        read += Integer.BYTES;
        if (length > DATA_BYTES_MAX) {
            throw new VmException(
                    Code.QEMU_FAILED, "the replay log has an event of " + length + " octets at octet " + at);
        }
        skip(length);
    }

    private void skip(long count) throws IOException {
        pass(count);
        read += count;
    }

    private void pass(long count) throws IOException {
        for (long left = count; left > 0; ) {
            fill();
            int here = (int) Math.min(left, to - from);
            from += here;
            left -= here;
        }
    }

    private long number() throws IOException {
        long number = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            number = number << Byte.SIZE | octet();
        }
        return number;
    }

    private int octet() throws IOException {
        fill();
        return buffer[from++] & 0xff;
    }

    private void fill() throws IOException {
        if (from == to) {
            from = 0;
            to = Math.max(0, in.read(buffer));
            if (to == 0) {
                throw new EOFException("the end of the log");
            }
        }
    }
}
