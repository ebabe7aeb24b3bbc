package blackbox.replay.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.disk.BlockLog.Applied;
import blackbox.replay.disk.BlockLog.MalformedLogException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockLogTest {
    private static final int SECTORS = 4_096;
    private static final int SECTOR = BlockLog.SECTOR_BYTES;

    @TempDir
    Path folder;

    /// A log written as QEMU writes it, and the disk that must result from it.
    private static final class Log {
        final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        final byte[] disk = new byte[SECTORS * SECTOR];

        Log() {
            octets.writeBytes(new byte[SECTOR]);
        }

        Log write(long sector, byte[] data) {
            entry(sector, data.length / SECTOR, 0, 0).octets.writeBytes(data);
            System.arraycopy(data, 0, disk, (int) sector * SECTOR, data.length);
            return this;
        }

        Log entry(long sector, long sectors, long flags, long more) {
            octets.writeBytes(ByteBuffer.allocate(SECTOR)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(sector)
                    .putLong(sectors)
                    .putLong(flags)
                    .putLong(more)
                    .array());
            return this;
        }

        byte[] bytes() {
            return octets.toByteArray();
        }
    }

    @Test
    void anyPrefixGivesTheDiskAfterItsWholeWrites() throws Exception {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        var log = new Log();
        for (int i = 0; i < 60; i++) {
            var data = new byte[(1 + random.nextInt(40)) * SECTOR];
            random.nextBytes(data);
            int before = log.octets.size();
            byte[] old = log.disk.clone();
            log.write(random.nextInt(SECTORS - 40), data);
            int cut = before + random.nextInt(log.octets.size() - before);
            Applied part = apply(Arrays.copyOf(log.bytes(), cut), old, "seed " + seed);
            assertEquals(i, part.writes());
            assertEquals(before, part.bytes());
            Applied all = apply(log.bytes(), log.disk, "seed " + seed);
            assertEquals(i + 1, all.writes());
            assertEquals(log.octets.size(), all.bytes());
        }
    }

    @Test
    void aGapEndsTheLog() throws Exception {
        var log = new Log().write(7, octets(3));
        long end = log.octets.size();
        log.octets.writeBytes(new byte[4 * SECTOR]);
        log.octets.writeBytes(octets(9));
        Applied applied = apply(log.bytes(), log.disk, "a gap");
        assertTrue(applied.unfinished());
        assertEquals(end, applied.bytes());
    }

    @Test
    void anEmptyLogChangesNothing() throws Exception {
        assertEquals(new Applied(0, 0, false), apply(new byte[0], new byte[SECTORS * SECTOR], "empty"));
        assertEquals(new Applied(0, 0, false), apply(new byte[SECTOR - 1], new byte[SECTORS * SECTOR], "short"));
        assertEquals(new Applied(0, SECTOR, false), apply(new byte[SECTOR], new byte[SECTORS * SECTOR], "no writes"));
    }

    @Test
    void whatNoQemuOfOursWritesIsRefused() {
        refuse(new Log().entry(0, 0, 0, 0).entry(1, 0, 0, 0), false);
        refuse(new Log().entry(1, 0, 1, 0), true); // a flush
        refuse(new Log().entry(1, 1, 4, 0), true); // a discard
        refuse(new Log().entry(1, 1, 8, 0), true); // a mark
        refuse(new Log().entry(1, 1, 0, 5), true); // other data
        refuse(new Log().entry(SECTORS, 1, 0, 0), true);
        refuse(new Log().entry(SECTORS - 1, 2, 0, 0), true);
        refuse(new Log().entry(-1, 1, 0, 0), true);
        refuse(new Log().entry(1, -1, 0, 0), true);
        refuse(new Log().entry(Long.MAX_VALUE, Long.MAX_VALUE, 0, 0), true);
        refuse(new Log().entry(1, Long.MAX_VALUE / SECTOR + 2, 0, 0), true);
        var noise = new Log().entry(1, 1, 0, 0);
        byte[] octets = noise.bytes();
        octets[SECTOR + 40] = 1;
        assertThrows(MalformedLogException.class, () -> apply(octets, noise.disk, "noise"));
        byte[] superblock = new Log().bytes();
        superblock[3] = 1;
        assertThrows(MalformedLogException.class, () -> apply(superblock, noise.disk, "a superblock"));
    }

    private void refuse(Log log, boolean malformed) {
        log.octets.writeBytes(new byte[SECTOR]);
        if (malformed) {
            assertThrows(MalformedLogException.class, () -> apply(log.bytes(), log.disk, "refused"));
        } else {
            try {
                assertTrue(apply(log.bytes(), log.disk, "a gap").unfinished());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static byte[] octets(int sectors) {
        var octets = new byte[sectors * SECTOR];
        new Random(sectors).nextBytes(octets);
        return octets;
    }

    private Applied apply(byte[] log, byte[] expected, String what) throws IOException {
        Path file = Files.write(folder.resolve("disk"), new byte[SECTORS * SECTOR]);
        try (FileChannel disk = FileChannel.open(file, StandardOpenOption.WRITE)) {
            Applied applied = BlockLog.apply(new ByteArrayInputStream(log), log.length, disk, (long) SECTORS * SECTOR);
            assertArrayEquals(expected, Files.readAllBytes(file), what);
            return applied;
        }
    }
}
