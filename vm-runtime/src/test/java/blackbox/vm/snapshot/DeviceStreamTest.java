package blackbox.vm.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceStreamTest {
    @TempDir
    Path folder;

    /// The subsections as QEMU writes them, with other octets around them.
    private static byte[] stream(long bias, long count, long asleepSince, long wakesAt) throws Exception {
        var octets = new ByteArrayOutputStream();
        var out = new DataOutputStream(octets);
        out.writeLong(7);
        subsection(out, "timer/icount", bias, count);
        subsection(out, "timer/icount/warp_timer", asleepSince, wakesAt);
        out.writeByte(0x7e);
        return octets.toByteArray();
    }

    private static void subsection(DataOutputStream out, String name, long first, long second) throws Exception {
        out.writeByte(5);
        out.writeByte(name.length());
        out.write(name.getBytes(StandardCharsets.US_ASCII));
        out.writeInt(1);
        out.writeLong(first);
        out.writeLong(second);
    }

    private Path file(byte[] stream) throws Exception {
        return Files.write(folder.resolve("devices"), stream);
    }

    @Test
    void theCounterMovesIntoTheBiasAndTheWakeUpTimerIsRemoved() throws Exception {
        Path devices = file(stream(5, 1_000, 42, 43));
        DeviceStream.beginHere(devices, 2);
        assertArrayEquals(stream(4_005, 0, -1, -1), Files.readAllBytes(devices));
    }

    @Test
    void whatIsNotAMachineThatCountsInstructionsIsRefused() throws Exception {
        Path other = file("something else".getBytes(StandardCharsets.US_ASCII));
        var why = assertThrows(VmException.class, () -> DeviceStream.beginHere(other, 0));
        assertTrue(String.valueOf(why.getCause()).endsWith("it has no timer/icount"), why::toString);
        Path full = file(stream(1, Long.MAX_VALUE, 0, 0));
        assertThrows(VmException.class, () -> DeviceStream.beginHere(full, 1));
    }
}
