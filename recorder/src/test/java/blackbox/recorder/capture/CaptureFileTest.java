package blackbox.recorder.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.RecorderException;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Event;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureFileTest {

    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void path() {
        path = folder.resolve("blocks");
    }

    @Test
    void upToWhenTheDiskHasAllIsOnTheLastSegmentOnly() throws Exception {
        Path log = folder.resolve("blocks");
        var file = new CaptureFile("blocks", log, 1 << 30, () -> Duration.ZERO, () -> 4711);
        Files.write(log, new byte[CaptureFile.SEGMENT_BYTES_MAX + 1]);
        List<String> details = details(file);
        assertEquals(2, details.size());
        assertFalse(details.getFirst().contains("syncedNs"), details::toString);
        assertTrue(details.getLast().endsWith(",\"syncedNs\":4711}"), details::toString);
    }

    /// What the guest said after the file had last grown is true of what was sealed, and said with what comes
    /// next.
    @Test
    void whatIsHeardWhileNothingIsNewCountsForWhatIsSealed() throws Exception {
        var synced = new AtomicLong(10);
        var file = new CaptureFile("blocks", path, 1 << 30, () -> Duration.ZERO, synced::get);
        append(octets(1, 100));
        assertFalse(details(file).getFirst().contains("syncedBeforeNs"));
        synced.set(20);
        assertEquals(List.of(), details(file));
        synced.set(30);
        append(octets(2, 100));
        String next = details(file).getFirst();
        assertTrue(next.contains("\"syncedBeforeNs\":20,\"syncedNs\":30"), next);
        append(octets(3, 100));
        assertFalse(details(file).getFirst().contains("syncedBeforeNs"));
    }

    @Test
    void segmentsFollowOneAnotherAndSayWhatTheyHold() throws Exception {
        var file = new CaptureFile("blocks", path);
        assertEquals(List.of(), details(file));
        byte[] first = octets(1, 1_000);
        append(first);
        assertEquals(List.of(segment(0, first)), details(file));
        assertEquals(List.of(), details(file));
        byte[] second = octets(2, 77);
        append(second);
        assertEquals(List.of(segment(1_000, second)), details(file));
        assertEquals(1_077, file.sealedBytes());
    }

    @Test
    void noEventSpeaksOfMoreThanItsBound() throws Exception {
        int length = 2 * CaptureFile.SEGMENT_BYTES_MAX + 5;
        byte[] all = octets(3, length);
        append(all);
        int bound = CaptureFile.SEGMENT_BYTES_MAX;
        assertEquals(
                List.of(
                        segment(0, Arrays.copyOfRange(all, 0, bound)),
                        segment(bound, Arrays.copyOfRange(all, bound, 2 * bound)),
                        segment(2L * bound, Arrays.copyOfRange(all, 2 * bound, length))),
                details(new CaptureFile("blocks", path)));
    }

    @Test
    void whatHasNotSettledWaits() throws Exception {
        var age = new AtomicReference<Duration>();
        var file = new CaptureFile("blocks", path, 1 << 20, age::get);
        byte[] octets = octets(4, 100);
        append(octets);
        assertEquals(List.of(), details(file));
        age.set(Duration.ZERO);
        assertEquals(List.of(segment(0, octets)), details(file));
    }

    /// Of a file whose octets are final only some time after they were there, what was there that long ago is
    /// sealed, with the time at which it was there.
    @Test
    void whatIsFinalByItsAgeIsSealedWithTheTimeAtWhichItWasThere() throws Exception {
        var ticker = new AtomicLong(Long.MAX_VALUE - 1);
        var age = new AtomicReference<>(Duration.ofDays(1));
        var synced = new AtomicLong(10);
        var now = new AtomicLong(1_000);
        var file = new CaptureFile("blocks", path, 1 << 20, age::get, synced::get, ticker::get);
        byte[] first = octets(1, 100);
        append(first);
        assertEquals(List.of(), file.sealNew(now::get));
        synced.set(20);
        now.set(2_000);
        assertEquals(List.of(), file.sealNew(now::get));
        ticker.addAndGet(20_000_000);
        age.set(Duration.ofMillis(10));
        synced.set(30);
        now.set(3_000);
        byte[] second = octets(2, 50);
        append(second);
        List<Event> events = file.sealNew(now::get);
        assertEquals(1, events.size());
        assertEquals(3_000, events.getFirst().header().atNs());
        String sealed = segment(0, first).replace("}", ",\"readNs\":2000,\"syncedNs\":20}");
        assertEquals(sealed, ((Event.VmCapture) events.getFirst()).detail());
        age.set(Duration.ZERO);
        String last = segment(100, second).replace("}", ",\"syncedNs\":30}");
        assertEquals(List.of(last), details(file, 3_000));
    }

    /// What the guest said between two looks at one length counts for what is sealed by then.
    @Test
    void whatIsHeardOfALengthThatIsSealedMeanwhileCountsForIt() throws Exception {
        var ticker = new AtomicLong(Long.MAX_VALUE - 1);
        var age = new AtomicReference<>(Duration.ofDays(1));
        var synced = new AtomicLong(10);
        var file = new CaptureFile("blocks", path, 1 << 20, age::get, synced::get, ticker::get);
        append(octets(1, 100));
        assertEquals(List.of(), details(file));
        ticker.addAndGet(20_000_000);
        age.set(Duration.ofMillis(10));
        synced.set(20);
        assertTrue(details(file).getFirst().endsWith(",\"syncedNs\":10}"));
        append(octets(2, 50));
        assertEquals(List.of(), details(file));
        age.set(Duration.ZERO);
        synced.set(30);
        String next = details(file).getFirst();
        assertTrue(next.endsWith(",\"syncedBeforeNs\":20,\"syncedNs\":30}"), next);
    }

    @Test
    void whatIsWrittenWhileTheFileSettlesIsNotSealedWithIt() throws Exception {
        byte[] before = octets(5, 100);
        append(before);
        var file = new CaptureFile("blocks", path, 1 << 20, () -> {
            try {
                append(octets(6, 50));
                return Duration.ZERO;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertEquals(List.of(segment(0, before)), details(file));
    }

    @Test
    void aFullFileEndsAndGrowsNoMore() throws Exception {
        var file = new CaptureFile("blocks", path, 64, () -> Duration.ZERO);
        byte[] octets = octets(7, 100);
        append(octets);
        assertEquals(
                List.of(segment(0, Arrays.copyOf(octets, 64)), "{\"ended\":64,\"why\":\"budget\"}"), details(file));
        assertEquals(64, Files.size(path));
        // The writer goes on at its own place, behind what is now a hole.
        try (FileChannel writer = FileChannel.open(path, StandardOpenOption.WRITE)) {
            writer.write(ByteBuffer.wrap(octets), 100);
        }
        assertEquals(List.of(), details(file));
        assertEquals(64, Files.size(path));
        assertEquals(64, file.sealedBytes());
    }

    @Test
    void aFileThatShrinksUnderItsRecorderStopsTheRecording() throws Exception {
        var file = new CaptureFile("blocks", path, 1 << 20, () -> {
            try {
                Files.write(path, new byte[10]);
                return Duration.ZERO;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        append(octets(8, 100));
        var failure = assertThrows(RecorderException.class, () -> file.sealNew(() -> 1));
        assertEquals(RecorderException.Code.CAPTURE, failure.code());
    }

    @Test
    void namesAreThoseThatReadersTake() {
        assertThrows(IllegalArgumentException.class, () -> new CaptureFile("../blocks", path));
        assertThrows(IllegalArgumentException.class, () -> new CaptureFile("blocks", path, 0, () -> Duration.ZERO));
    }

    private static List<String> details(CaptureFile file) throws RecorderException {
        return details(file, 1);
    }

    private static List<String> details(CaptureFile file, long nowNs) throws RecorderException {
        return file.sealNew(() -> nowNs).stream()
                .map(event -> {
                    var capture = (Event.VmCapture) event;
                    assertEquals("blocks", capture.what());
                    return String.valueOf(capture.detail());
                })
                .toList();
    }

    private static String segment(long from, byte[] octets) {
        return "{\"from\":" + from + ",\"to\":" + (from + octets.length) + ",\"sha256\":\"" + Hash.sha256(octets)
                + "\"}";
    }

    private static byte[] octets(long seed, int length) {
        var octets = new byte[length];
        new Random(seed).nextBytes(octets);
        return octets;
    }

    private void append(byte[] octets) throws IOException {
        Files.write(path, octets, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
