package blackbox.vm.machine;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// The stream in which QEMU saves its devices (`docs/devel/migration`, version 3): big-endian numbers,
/// subsections named by an octet 5, the name's length and the name.
final class DeviceStream {
    private static final byte[] COUNTER = subsection("timer/icount");
    private static final int VERSION_BYTES = 4;

    private DeviceStream() {}

    /// Makes the instruction counter 0 and adds to the clock's bias what it stood for, so that no device
    /// notices.
    ///
    /// QEMU logs the distance to the first event in 32 bits: a machine that has booted, and so has executed
    /// more than that, could be recorded and not be replayed. And a position in the recording is then one
    /// in the run.
    ///
    /// @param instructionShift of the machine that was saved
    static void countFromHere(Path devices, int instructionShift) throws VmException {
        try {
            ByteBuffer stream = ByteBuffer.wrap(Files.readAllBytes(devices));
            int place = find(stream.array());
            long bias = stream.getLong(place);
            long count = stream.getLong(place + Long.BYTES);
            stream.putLong(place, Math.addExact(bias, Math.multiplyExact(count, 1L << instructionShift)));
            stream.putLong(place + Long.BYTES, 0);
            Files.write(devices, stream.array());
        } catch (IOException | ArithmeticException e) {
            throw new VmException(Code.QEMU_FAILED, devices + " is not a snapshot that can be counted from", e);
        }
    }

    /// Where the bias stands; the counter follows it.
    private static int find(byte[] stream) throws IOException {
        int found = -1;
        for (int i = 0; i + COUNTER.length + VERSION_BYTES + 2 * Long.BYTES <= stream.length; i++) {
            if (matches(stream, i)) {
                if (found >= 0) {
                    throw new IOException("it has more than one instruction counter");
                }
                found = i + COUNTER.length + VERSION_BYTES;
            }
        }
        if (found < 0) {
            throw new IOException("it has no instruction counter");
        }
        return found;
    }

    private static boolean matches(byte[] stream, int at) {
        for (int i = 0; i < COUNTER.length; i++) {
            if (stream[at + i] != COUNTER[i]) {
                return false;
            }
        }
        // The name of the next subsection begins with this one's: there a slash follows, here the version.
        return stream[at + COUNTER.length] == 0;
    }

    private static byte[] subsection(String name) {
        byte[] octets = name.getBytes(StandardCharsets.US_ASCII);
        var found = ByteBuffer.allocate(2 + octets.length);
        return found.put((byte) 5).put((byte) octets.length).put(octets).array();
    }
}
