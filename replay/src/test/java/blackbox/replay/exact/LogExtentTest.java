package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LogExtentTest {
    private static LogExtent read(byte[] log) throws IOException {
        return LogExtent.read(new ByteArrayInputStream(log));
    }

    /// One event of each form, as QEMU writes them.
    private static byte[] log() throws IOException {
        var octets = new ByteArrayOutputStream();
        var out = new DataOutputStream(octets);
        out.write(new byte[] {37, 38, 31, 34});
        out.write(0);
        out.writeInt(27);
        out.write(1);
        out.write(0);
        out.writeInt(6_001);
        out.write(2);
        for (int kind : new int[] {3, 8, 22, 28, 29}) {
            out.write(kind);
            out.writeLong(kind);
        }
        out.write(new byte[] {7, 1});
        out.writeInt(3);
        out.write(new byte[] {'a', 'b', 'c'});
        out.write(new byte[] {9, 0, 0, 0, 0, 0});
        out.writeInt(2);
        out.write(new byte[] {1, 2});
        out.write(27);
        out.writeInt(0);
        out.writeInt(1);
        out.write(5);
        out.write(new byte[] {16, 39});
        return octets.toByteArray();
    }

    @Test
    void aWholeLogIsReadToItsEnd() throws IOException {
        var extent = read(log());
        assertEquals(6_028, extent.instructions());
        assertEquals(log().length, extent.bytes());
        assertTrue(extent.end());
        assertEquals(18, extent.events());
    }

    @Test
    void aCutLogIsReadToItsLastWholeEvent() throws IOException {
        byte[] log = log();
        for (int cut = 0; cut < log.length; cut++) {
            var extent = read(Arrays.copyOf(log, cut));
            assertFalse(extent.end(), "cut at " + cut);
            assertTrue(extent.bytes() <= cut, "cut at " + cut);
            assertTrue(extent.instructions() <= 6_028, "cut at " + cut);
        }
    }

    @Test
    void whatQemuNeverWritesIsRefused() {
        assertThrows(IOException.class, () -> read(new byte[] {5}));
        assertThrows(IOException.class, () -> read(new byte[] {(byte) 200}));
        assertThrows(IOException.class, () -> read(new byte[] {7, 0, 127, 0, 0, 0}));
    }
}
