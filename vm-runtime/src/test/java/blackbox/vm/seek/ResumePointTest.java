package blackbox.vm.seek;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.vm.VmException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResumePointTest {
    private static final int HEADER = 12;

    @TempDir
    private Path folder;

    /// 500 instructions, request 0 to a disk is done, 300 instructions, timers, 7 octets for a character
    /// device, end.
    private Path log() throws IOException {
        var octets = new ByteArrayOutputStream();
        var out = new DataOutputStream(octets);
        out.writeInt(0xe0200c);
        out.writeLong(0);
        out.writeByte(ReplayEvents.INSTRUCTIONS);
        out.writeInt(500);
        out.writeByte(ReplayEvents.BLOCK);
        out.writeLong(0);
        out.writeByte(ReplayEvents.INSTRUCTIONS);
        out.writeInt(300);
        out.writeByte(ReplayEvents.CLOCK_VIRTUAL);
        out.writeByte(7);
        out.writeByte(2);
        out.writeInt(7);
        out.write("control".getBytes(StandardCharsets.US_ASCII));
        out.writeByte(ReplayEvents.END);
        return Files.write(folder.resolve("log"), octets.toByteArray());
    }

    private static byte[] stream(long counter, int left, int kind, boolean unread, long place, long requests) {
        var out = ByteBuffer.allocate(200);
        out.put("other devices".getBytes(StandardCharsets.US_ASCII)).put((byte) 6);
        out.put("replay".getBytes(StandardCharsets.US_ASCII)).putInt(0).putInt(3);
        out.putLong(1)
                .putLong(2)
                .putLong(counter)
                .putInt(left)
                .putInt(9)
                .putInt(kind)
                .put((byte) (unread ? 1 : 0));
        out.putLong(place).putLong(requests).putLong(-1);
        return out.array();
    }

    /// What another process goes on with: the head, and the log from there.
    private Path rest(ResumePoint point, Path log) throws IOException, VmException {
        var octets = new ByteArrayOutputStream();
        octets.write(point.head(log));
        byte[] whole = Files.readAllBytes(log);
        int place = (int) point.place();
        octets.write(whole, place, whole.length - place);
        return Files.write(folder.resolve("rest"), octets.toByteArray());
    }

    private static long[] kinds(Path log) throws IOException, VmException {
        var found = LongStream.builder();
        try (var events = ReplayEvents.open(log)) {
            while (events.next()) {
                found.add(events.kind());
            }
        }
        return found.build().toArray();
    }

    @Test
    void readsEventsWithTheirPlacesAndInstructions() throws Exception {
        try (var events = ReplayEvents.open(log())) {
            assertTrue(events.next());
            assertEquals(500, events.instructions());
            assertEquals(HEADER, events.at());
            assertTrue(events.next());
            assertEquals(ReplayEvents.BLOCK, events.kind());
            assertEquals(HEADER + 5, events.at());
            assertTrue(events.next());
            assertEquals(800, events.instructions());
            assertEquals(HEADER + 14, events.at());
        }
    }

    @Test
    void aLogThatWasCutEndsBeforeTheCutEvent() throws Exception {
        byte[] whole = Files.readAllBytes(log());
        Path cut = Files.write(folder.resolve("cut"), Arrays.copyOf(whole, HEADER + 10));
        assertArrayEquals(new long[] {0}, kinds(cut));
    }

    @Test
    void anEventOfAnUnknownKindIsRefused() throws Exception {
        byte[] whole = Files.readAllBytes(log());
        whole[HEADER + 5] = 99;
        Path odd = Files.write(folder.resolve("odd"), whole);
        assertThrows(VmException.class, () -> kinds(odd));
    }

    @Test
    void withinInstructionsTheRestOfThemFollowsTheTimers() throws Exception {
        Path log = log();
        var point = ResumePoint.of(stream(600, 200, ReplayEvents.INSTRUCTIONS, true, HEADER + 19, 1));
        assertEquals(600, point.instruction());
        Path goesOn = rest(point, log);
        try (var rest = ReplayEvents.open(goesOn)) {
            assertTrue(rest.next());
            assertEquals(ReplayEvents.CLOCK_VIRTUAL, rest.kind());
            assertTrue(rest.next());
            assertEquals(200, rest.instructions());
            assertTrue(rest.next());
            assertEquals(ReplayEvents.CLOCK_VIRTUAL, rest.kind(), "the recording's own");
        }
        assertArrayEquals(new long[] {34, 0, 34, 7, 39}, kinds(goesOn));
        assertArrayEquals(stream(600, 0, 0, false, HEADER, 1), point.devices());
    }

    @Test
    void anEventWhoseKindWasReadIsReadAgain() throws Exception {
        var point = ResumePoint.of(stream(800, 0, 7, true, HEADER + 21, 1));
        assertArrayEquals(new long[] {34, 7, 39}, kinds(rest(point, log())));
    }

    @Test
    void betweenEventsNothingIsReadAgain() throws Exception {
        var point = ResumePoint.of(stream(800, 0, 0, false, HEADER + 20, 1));
        assertArrayEquals(new long[] {34, 7, 39}, kinds(rest(point, log())));
    }

    @Test
    void aRequestThatIsNotDoneUnsettlesIt() throws Exception {
        Path log = log();
        assertTrue(ResumePoint.of(stream(600, 200, 0, true, HEADER + 19, 1)).settled(log, 0));
        assertFalse(ResumePoint.of(stream(600, 200, 0, true, HEADER + 19, 2)).settled(log, 0));
        assertFalse(ResumePoint.of(stream(400, 100, 0, true, HEADER + 5, 1)).settled(log, 0));
        assertTrue(ResumePoint.of(stream(400, 100, 0, true, HEADER + 5, 4)).settled(log, 4));
        // Its end is about to be read: the kind has been.
        assertFalse(ResumePoint.of(stream(500, 0, 8, true, HEADER + 6, 1)).settled(log, 0));
    }

    @Test
    void aStreamWithoutAPositionOrWithTwoIsRefused() {
        assertThrows(VmException.class, () -> ResumePoint.of(new byte[300]));
        byte[] one = stream(1, 0, 0, false, HEADER, 0);
        byte[] two = Arrays.copyOf(one, 2 * one.length);
        System.arraycopy(one, 0, two, one.length, one.length);
        assertThrows(VmException.class, () -> ResumePoint.of(two));
    }
}
