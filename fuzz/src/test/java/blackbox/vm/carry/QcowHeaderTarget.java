package blackbox.vm.carry;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.fuzz.FuzzTarget;
import blackbox.fuzz.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Disk images that come with a run or an image from elsewhere: which other files they would have QEMU open.
public final class QcowHeaderTarget {
    private static final int BYTES = 128;

    /// The target.
    public static final FuzzTarget TARGET = FuzzTarget.of(
            "qcow-header", 2 << 10, QcowHeaderTarget::read, () -> Map.of("plain", image(false), "backed", image(true)));

    private QcowHeaderTarget() {}

    private static boolean read(byte[] octets) throws IOException {
        QcowHeader header = QcowHeader.read(Scratch.file("qcow-header", octets));
        if (header == null) {
            return false;
        }
        ensure(
                header.backing() != null || ByteBuffer.wrap(octets).getLong(8) == 0,
                "an image that names a base is said to have none");
        return true;
    }

    private static byte[] image(boolean backed) {
        byte[] base = "/etc/shadow".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer image =
                ByteBuffer.allocate(BYTES + base.length).putInt(0, 0x514649fb).putInt(4, 3);
        return backed
                ? image.putLong(8, BYTES)
                        .putInt(16, base.length)
                        .put(BYTES, base)
                        .array()
                : image.array();
    }
}
