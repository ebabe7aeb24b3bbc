package blackbox.replay.disk;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.fuzz.FuzzTarget;
import blackbox.fuzz.Scratch;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/// QEMU's log of what the guest wrote to its disk.
public final class BlockLogTarget {
    private static final int SECTORS = 64;
    private static final int DISK_BYTES = SECTORS * BlockLog.SECTOR_BYTES;

    /// The target.
    public static final FuzzTarget TARGET = FuzzTarget.of(
            "block-log",
            16 << 10,
            BlockLogTarget::apply,
            () -> Map.of("two-writes", twoWrites()),
            BlockLog.MalformedLogException.class);

    private BlockLogTarget() {}

    private static boolean apply(byte[] log) throws IOException {
        Path path = Scratch.file("block-log", new byte[DISK_BYTES]);
        try (FileChannel disk = FileChannel.open(path, StandardOpenOption.WRITE)) {
            BlockLog.Applied applied = BlockLog.apply(new ByteArrayInputStream(log), log.length, disk, DISK_BYTES);
            ensure(disk.size() == DISK_BYTES, "the disk has another length");
            ensure(applied.bytes() >= 0 && applied.bytes() <= log.length, "more is used than there is");
            ensure(
                    applied.writes() <= log.length / (2 * BlockLog.SECTOR_BYTES),
                    "more writes than the log has room for");
            return applied.writes() > 0;
        }
    }

    private static byte[] twoWrites() {
        ByteBuffer log = ByteBuffer.allocate(6 * BlockLog.SECTOR_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        log.putLong(BlockLog.SECTOR_BYTES, 3).putLong(BlockLog.SECTOR_BYTES + 8, 1);
        log.putLong(3 * BlockLog.SECTOR_BYTES, 7).putLong(3 * BlockLog.SECTOR_BYTES + 8, 2);
        return log.array();
    }
}
