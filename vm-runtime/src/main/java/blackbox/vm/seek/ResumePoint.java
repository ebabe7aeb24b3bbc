package blackbox.vm.seek;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/// A paused machine within a replay, according to its device stream: where it is, and from where another
/// process continues to read the log.
///
/// QEMU can save such a machine but cannot resume from it: loading a virtio-serial device sets a timer that
/// expires at once, the log has no such event, and so QEMU waits forever. A machine that resumes from here
/// therefore gets its own log, in which that event comes first.
public final class ResumePoint {
    private static final byte[] SECTION = section();
    /// Two clocks, the counter, the instructions left in the current event, events so far, kind, whether it was
    /// read, position in the log, disk requests, number of a half-read event.
    private static final int CLOCKS_BYTES = 16;
    private static final int LEFT = CLOCKS_BYTES + 8;
    private static final int KIND = LEFT + 8;
    private static final int UNREAD = KIND + 4;
    private static final int PLACE = UNREAD + 1;
    private static final int REQUESTS = PLACE + 8;
    private static final int SECTION_BYTES = REQUESTS + 16;

    private final ByteBuffer stream;
    private final int section;

    private ResumePoint(ByteBuffer stream, int section) {
        this.stream = stream;
        this.section = section;
    }

    /// Reads it from a device stream.
    public static ResumePoint of(byte[] stream) throws VmException {
        int found = -1;
        for (int i = 0; i + SECTION.length + SECTION_BYTES <= stream.length; i++) {
            if (Arrays.equals(stream, i, i + SECTION.length, SECTION, 0, SECTION.length)) {
                if (found >= 0) {
                    throw new VmException(Code.QEMU_FAILED, "the machine's devices hold two positions of a replay");
                }
                found = i + SECTION.length;
            }
        }
        if (found < 0) {
            throw new VmException(Code.QEMU_FAILED, "the machine's devices do not hold a position of a replay");
        }
        return new ResumePoint(ByteBuffer.wrap(stream.clone()), found);
    }

    /// The instruction that comes next, counted from 0.
    public long instruction() {
        return stream.getLong(section + CLOCKS_BYTES);
    }

    /// How many disk requests have been made so far.
    public long requests() {
        return stream.getLong(section + REQUESTS);
    }

    /// Whether every disk request made so far has completed. Pending ones are only in QEMU's own memory and not in
    /// the stream, so nothing could resume from here. `before` is how many completed before `log` begins.
    public boolean settled(Path log, long before) throws VmException {
        try {
            return before + ReplayEvents.blocks(log, eventAt()) == requests();
        } catch (IOException e) {
            throw new VmException(Code.IO, log + " could not be read", e);
        }
    }

    /// Where the log continues after the event that has been begun, in octets.
    public long place() {
        return stream.getLong(section + PLACE);
    }

    /// The beginning of the log of another process that resumes from here; `log`, which this machine reads,
    /// follows from [#place] on.
    public byte[] head(Path log) throws VmException {
        try (InputStream from = Files.newInputStream(log)) {
            var head = new ByteArrayOutputStream();
            head.write(from.readNBytes(ReplayEvents.HEADER_BYTES));
            head.write(ReplayEvents.CLOCK_VIRTUAL);
            head.write(begun());
            return head.toByteArray();
        } catch (IOException e) {
            throw new VmException(Code.IO, log + " could not be read", e);
        }
    }

    /// The same devices at the beginning of that log, with no event begun.
    public byte[] devices() {
        ByteBuffer copy = ByteBuffer.wrap(stream.array().clone());
        copy.putInt(section + LEFT, 0);
        copy.putInt(section + KIND, 0);
        copy.put(section + UNREAD, (byte) 0);
        copy.putLong(section + PLACE, ReplayEvents.HEADER_BYTES);
        return copy.array();
    }

    /// The event that this machine has begun to read, as it is in the log.
    private byte[] begun() throws IOException {
        var octets = new ByteArrayOutputStream();
        if (unread()) {
            var out = new DataOutputStream(octets);
            out.writeByte(kind());
            if (kind() == ReplayEvents.INSTRUCTIONS) {
                out.writeInt(stream.getInt(section + LEFT));
            }
        }
        return octets.toByteArray();
    }

    /// Where the current event begins, if only its kind has been read; otherwise where the log continues. That
    /// will also do for instructions, which are not a disk request.
    private long eventAt() {
        boolean begun = unread() && kind() != ReplayEvents.INSTRUCTIONS;
        return begun ? place() - 1 : place();
    }

    private boolean unread() {
        return stream.get(section + UNREAD) != 0;
    }

    private int kind() {
        return stream.getInt(section + KIND);
    }

    /// The name of the section with its length, its instance 0 and its version 3.
    private static byte[] section() {
        byte[] name = "replay".getBytes(StandardCharsets.US_ASCII);
        var start = ByteBuffer.allocate(1 + name.length + 2 * Integer.BYTES);
        return start.put((byte) name.length).put(name).putInt(0).putInt(3).array();
    }
}
