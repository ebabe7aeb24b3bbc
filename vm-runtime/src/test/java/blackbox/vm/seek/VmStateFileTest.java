package blackbox.vm.seek;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.vm.VmException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images are made here octet by octet, as the format's description says.
class VmStateFileTest {
    private static final int CLUSTER_BITS = 12;
    private static final int CLUSTER = 1 << CLUSTER_BITS;
    private static final int SNAPSHOTS = CLUSTER;
    private static final int TABLE = 2 * CLUSTER;
    private static final int SECOND = 3 * CLUSTER;
    private static final int DATA = 4 * CLUSTER;
    private static final int SNAPSHOT_BYTES = 40;

    @TempDir
    private Path folder;

    /// A disk of one first-level entry, and behind it `stream`, its second cluster not allocated.
    private static ByteBuffer image(byte[] stream) {
        int clusters = Math.ceilDiv(stream.length, CLUSTER);
        ByteBuffer image = ByteBuffer.allocate(DATA + clusters * CLUSTER);
        image.putInt(0, 0x514649fb).putInt(4, 3).putInt(20, CLUSTER_BITS).putLong(24, 1 << 20);
        image.putInt(60, 1).putLong(64, SNAPSHOTS);
        image.putLong(SNAPSHOTS, TABLE).putInt(SNAPSHOTS + 8, 2);
        image.putInt(SNAPSHOTS + 36, 16).putLong(SNAPSHOTS + 40, stream.length);
        image.putLong(TABLE + 8, SECOND | 1L << 63);
        for (int i = 0; i < clusters; i++) {
            if (i != 1) {
                image.putLong(SECOND + 8 * i, DATA + (long) i * CLUSTER | 1L << 63);
            }
        }
        image.put(DATA, stream);
        return image;
    }

    private static byte[] stream() {
        byte[] stream = new byte[3 * CLUSTER + 100];
        new Random(3).nextBytes(stream);
        Arrays.fill(stream, CLUSTER, 2 * CLUSTER, (byte) 0);
        return stream;
    }

    private byte[] read(ByteBuffer image) throws IOException, VmException {
        return VmStateFile.stream(Files.write(folder.resolve("image"), image.array()));
    }

    @Test
    void givesTheStreamBehindTheDisk() throws Exception {
        assertArrayEquals(stream(), read(image(stream())));
    }

    @Test
    void whatIsNotOneWholeSnapshotIsRefused() {
        assertThrows(VmException.class, () -> read(image(stream()).putInt(0, 7)));
        assertThrows(VmException.class, () -> read(image(stream()).putInt(60, 2)));
        assertThrows(VmException.class, () -> read(image(stream()).putLong(SNAPSHOTS + 40, 1L << 40)));
        assertThrows(
                VmException.class,
                () -> read(image(stream()).putLong(SNAPSHOTS + 40, 100 << 20)),
                "a state longer than the file that holds it");
        assertThrows(VmException.class, () -> read(image(stream()).putLong(SECOND, DATA | 1L << 62)));
        assertThrows(VmException.class, () -> read(image(stream()).putLong(SECOND, 1L << 40)), "beyond its end");
    }

    @Test
    void anOffsetThatIsNoneIsRefused() {
        for (long none : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - SNAPSHOT_BYTES}) {
            assertThrows(VmException.class, () -> read(image(stream()).putLong(64, none)), "of the snapshot");
            assertThrows(VmException.class, () -> read(image(stream()).putLong(SNAPSHOTS, none)), "of its table");
            assertThrows(VmException.class, () -> read(image(stream()).putLong(24, none)), "of the state");
        }
    }
}
