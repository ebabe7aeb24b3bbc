package blackbox.vm.snapshot;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/// The stream in which QEMU saves its devices (`docs/devel/migration`, version 3): big-endian numbers,
/// subsections named by an octet 5, the name's length and the name.
final class DeviceStream {
    private static final byte[] COUNTER = subsection("timer/icount");
    private static final byte[] WAKING = subsection("timer/icount/warp_timer");
    private static final int VERSION_BYTES = 4;
    private static final int FIELDS_BYTES = 2 * Long.BYTES;
    private static final long NEVER = -1;

    private DeviceStream() {}

    /// Turns the saved machine into one from which a recording can begin.
    ///
    /// The instruction counter becomes 0, and the time that it represented is added to the clock's bias, so that no
    /// device notices. QEMU logs the distance to the first event in 32 bits, so a machine that has executed more
    /// than that while booting could be recorded but not replayed. It also makes positions in the recording
    /// positions in the run.
    ///
    /// The timer that wakes a sleeping guest is removed; QEMU sets it again as soon as the guest runs. The timer
    /// follows the host's time. A replay takes that from the log, and reads it before its guest runs: the timer
    /// would expire while the machine is still paused, to no effect, and the guest would never be woken.
    ///
    /// @param instructionShift of the machine that was saved
    static void beginHere(Path devices, int instructionShift) throws VmException {
        try {
            ByteBuffer stream = ByteBuffer.wrap(Files.readAllBytes(devices));
            int counter = find(stream.array(), COUNTER);
            long bias = stream.getLong(counter);
            long count = stream.getLong(counter + Long.BYTES);
            stream.putLong(counter, Math.addExact(bias, Math.multiplyExact(count, 1L << instructionShift)));
            stream.putLong(counter + Long.BYTES, 0);
            int waking = find(stream.array(), WAKING);
            stream.putLong(waking, NEVER);
            stream.putLong(waking + Long.BYTES, NEVER);
            Files.write(devices, stream.array());
        } catch (IOException | ArithmeticException e) {
            throw new VmException(Code.QEMU_FAILED, devices + " is not a snapshot that a recording can start from", e);
        }
    }

    /// The offset of a subsection's fields. Both subsections have two of 8 octets each: the clock's bias and the
    /// counter; since when the guest has slept and when the timer is due.
    private static int find(byte[] stream, byte[] subsection) throws IOException {
        int found = -1;
        for (int i = 0; i + subsection.length + VERSION_BYTES + FIELDS_BYTES <= stream.length; i++) {
            if (Arrays.equals(stream, i, i + subsection.length, subsection, 0, subsection.length)) {
                if (found >= 0) {
                    throw new IOException("it has more than one " + name(subsection));
                }
                found = i + subsection.length + VERSION_BYTES;
            }
        }
        if (found < 0) {
            throw new IOException("it has no " + name(subsection));
        }
        return found;
    }

    private static String name(byte[] subsection) {
        return new String(subsection, 2, subsection.length - 2, StandardCharsets.US_ASCII);
    }

    private static byte[] subsection(String name) {
        byte[] octets = name.getBytes(StandardCharsets.US_ASCII);
        var found = ByteBuffer.allocate(2 + octets.length);
        return found.put((byte) 5).put((byte) octets.length).put(octets).array();
    }
}
