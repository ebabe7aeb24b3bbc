package blackbox.recorder.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptStreamTest {
    private static final byte[] FRAMES = new byte[10_000];

    static {
        Arrays.setAll(new int[FRAMES.length], i -> FRAMES[i] = (byte) i);
    }

    @TempDir
    Path folder;

    @Test
    void whatIsReadIsKeptForItsOwner() throws Exception {
        Path file = folder.resolve("frames");
        try (var kept = new KeptStream(new ByteArrayInputStream(FRAMES), file, 1 << 20)) {
            assertEquals(0, kept.read());
            kept.skipNBytes(7);
            assertArrayEquals(Arrays.copyOfRange(FRAMES, 8, FRAMES.length), kept.readAllBytes());
        }
        assertArrayEquals(FRAMES, Files.readAllBytes(file));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void keepingEndsAtItsLimitAndReadingGoesOn() throws Exception {
        Path file = folder.resolve("frames");
        try (var kept = new KeptStream(new ByteArrayInputStream(FRAMES), file, 4_321)) {
            assertArrayEquals(FRAMES, kept.readAllBytes());
            assertNull(kept.failure());
        }
        assertArrayEquals(Arrays.copyOf(FRAMES, 4_321), Files.readAllBytes(file));
    }

    @Test
    void withoutRoomThereIsNoFile() throws Exception {
        Path file = folder.resolve("frames");
        try (var kept = new KeptStream(new ByteArrayInputStream(FRAMES), file, 0)) {
            assertEquals(FRAMES.length, kept.readAllBytes().length);
        }
        assertFalse(Files.exists(file));
    }

    @Test
    void aFileThatCannotBeWrittenStopsNothing() throws Exception {
        try (var kept = new KeptStream(new ByteArrayInputStream(FRAMES), folder.resolve("no/frames"), 1 << 20)) {
            assertEquals(FRAMES.length, kept.readAllBytes().length);
            assertNotNull(kept.failure());
        }
    }
}
