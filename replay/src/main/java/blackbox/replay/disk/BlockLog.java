package blackbox.replay.disk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/// The log of writes to a disk, `blocks` (`schemas/capture.md`): a sector for the superblock, then for each
/// write a sector that describes it and the sectors that were written.
final class BlockLog {
    static final int SECTOR_BYTES = 512;

    private static final int ENTRY_BYTES = 32;
    private static final long FLUSH_OR_FUA = 3;
    private static final int CHUNK_BYTES = 1 << 20;

    private BlockLog() {}

    /// The result of applying a log.
    ///
    /// @param writes complete writes that were applied
    /// @param bytes how much of the log was used; what follows is the beginning of a write, or nothing
    /// @param unfinished whether the log has a gap there, as a killed QEMU leaves
    record Applied(long writes, long bytes, boolean unfinished) {}

    /// A log that QEMU would not write.
    static final class MalformedLogException extends IOException {
        private static final long serialVersionUID = 1L;

        MalformedLogException(long at, String why) {
            super("the log of the disk is malformed at octet " + at + ": " + why);
        }
    }

    /// Applies the writes of a log to a disk, in order. An incomplete last write is not applied.
    ///
    /// @param log read to its end, a chunk at a time
    /// @param logBytes how long it is
    /// @param diskBytes how long the disk is; no write may go beyond
    static Applied apply(InputStream log, long logBytes, FileChannel disk, long diskBytes) throws IOException {
        var head = new byte[SECTOR_BYTES];
        if (!fill(log, head)) {
            return new Applied(0, 0, false);
        }
        require(isZero(head, 0), 0, "its first sector is not empty");
        long at = SECTOR_BYTES;
        long writes = 0;
        var chunk = new byte[CHUNK_BYTES];
        while (fill(log, head)) {
            ByteBuffer entry = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
            long sector = entry.getLong(0);
            long sectors = entry.getLong(8);
            if (isZero(head, 0)) {
                return new Applied(writes, at, true);
            }
            long disks = diskBytes / SECTOR_BYTES;
            require(sectors > 0 && sectors <= disks, at, "a write of " + sectors + " sectors");
            require(sector >= 0 && sector <= disks - sectors, at, "a write to sector " + sector);
            require((entry.getLong(16) & ~FLUSH_OR_FUA) == 0, at, "flags " + entry.getLong(16));
            require(entry.getLong(24) == 0 && isZero(head, ENTRY_BYTES), at, "an entry is not zero after its fields");
            long data = sectors * SECTOR_BYTES;
            if (data > logBytes - at - SECTOR_BYTES) {
                break;
            }
            copy(log, data, disk, sector * SECTOR_BYTES, chunk);
            at += SECTOR_BYTES + data;
            writes++;
        }
        return new Applied(writes, at, false);
    }

    private static void copy(InputStream log, long bytes, FileChannel disk, long to, byte[] chunk) throws IOException {
        for (long done = 0; done < bytes; ) {
            int n = log.readNBytes(chunk, 0, (int) Math.min(chunk.length, bytes - done));
            if (n == 0) {
                throw new IOException("the log of the disk became shorter while it was read");
            }
            ByteBuffer octets = ByteBuffer.wrap(chunk, 0, n);
            for (long place = to + done; octets.hasRemaining(); ) {
                place += disk.write(octets, place);
            }
            done += n;
        }
    }

    private static boolean fill(InputStream log, byte[] sector) throws IOException {
        return log.readNBytes(sector, 0, sector.length) == sector.length;
    }

    private static boolean isZero(byte[] octets, int from) {
        for (int i = from; i < octets.length; i++) {
            if (octets[i] != 0) {
                return false;
            }
        }
        return true;
    }

    private static void require(boolean holds, long at, String otherwise) throws MalformedLogException {
        if (!holds) {
            throw new MalformedLogException(at, otherwise);
        }
    }
}
