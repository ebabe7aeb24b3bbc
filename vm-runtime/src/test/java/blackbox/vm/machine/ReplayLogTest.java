package blackbox.vm.machine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What QEMU is given to replay.
class ReplayLogTest {
    private static final byte[] HEAD = "a head of 12".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int DUE = 34;
    private static final int WARP = 31;
    private static final int INTERRUPT = 1;

    @TempDir
    Path folder;

    private Path header;

    @BeforeEach
    void makeHeader() throws Exception {
        header = Files.write(folder.resolve("head"), HEAD);
    }

    private byte[] restored(int... octets) throws Exception {
        var kept = new ByteArrayOutputStream();
        for (int octet : octets) {
            kept.write(octet);
        }
        Path target = folder.resolve("log");
        ReplayLog.restore(header, new ByteArrayInputStream(kept.toByteArray()), target);
        byte[] log = Files.readAllBytes(target);
        assertArrayEquals(HEAD, java.util.Arrays.copyOf(log, HEAD.length));
        return java.util.Arrays.copyOfRange(log, HEAD.length, log.length);
    }

    @Test
    void aLogWithoutDoublesIsGivenAsItIs() throws Exception {
        assertArrayEquals(new byte[] {WARP, DUE, WARP, DUE, INTERRUPT}, restored(WARP, DUE, WARP, DUE, INTERRUPT));
    }

    /// As a recording on a busy host had it, which no replay got past.
    @Test
    void whatTwoThreadsLoggedAtOnceIsGivenOnce() throws Exception {
        assertArrayEquals(new byte[] {WARP, DUE, WARP, INTERRUPT}, restored(WARP, DUE, DUE, WARP, INTERRUPT));
        assertEquals(List.of("head", "log"), names());
    }

    @Test
    void severalAndThreeInARow() throws Exception {
        assertArrayEquals(
                new byte[] {DUE, WARP, DUE, INTERRUPT, DUE},
                restored(DUE, DUE, DUE, WARP, DUE, DUE, INTERRUPT, DUE, DUE));
    }

    /// Octets that the guest received, and a count of instructions, may look the same.
    @Test
    void whatOnlyLooksLikeItStays() throws Exception {
        byte[] same = {7, 0, 0, 0, 0, 2, DUE, DUE, 0, 0, 0, DUE, DUE, DUE, WARP};
        int[] octets = new int[same.length];
        for (int i = 0; i < same.length; i++) {
            octets[i] = same[i];
        }
        assertArrayEquals(same, restored(octets));
    }

    private List<String> names() throws Exception {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
