package blackbox.replay.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Tie;
import blackbox.replay.content.Window;
import blackbox.replay.output.OutputDifference.How;
import blackbox.replay.request.Difference;
import blackbox.schemas.Hash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Two outputs are equal, or the first octet in which they differ is known.
class OutputMatchTest {
    /// Of the comparison's own buffer.
    private static final int CHUNK = 1 << 16;

    private static OutputMatch match(byte[] recorded, byte[] replayed) throws IOException {
        return OutputMatch.of(
                PrintedStream.STDOUT, new ByteArrayInputStream(recorded), new ByteArrayInputStream(replayed));
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertDiffers(byte[] recorded, byte[] replayed, int octet, How how) throws IOException {
        OutputMatch match = match(recorded, replayed);
        assertEquals(new Content(Hash.sha256(recorded), recorded.length), match.expected());
        assertEquals(new Content(Hash.sha256(replayed), replayed.length), match.actual());
        OutputDifference difference = Objects.requireNonNull(match.difference());
        assertEquals(octet, difference.octet());
        assertEquals(how, difference.how());
        Difference shown = Objects.requireNonNull(match.octets());
        int from = Math.max(0, octet - Difference.BEFORE_MAX);
        assertEquals(octet, shown.at());
        assertEquals(from, shown.from());
        assertEquals(shown(recorded, from), shown.recorded());
        assertEquals(shown(replayed, from), shown.replayed());
    }

    private static String shown(byte[] octets, int from) {
        int to = Math.min(octets.length, from + Difference.SHOWN_MAX);
        return new String(octets, from, to - from, StandardCharsets.ISO_8859_1);
    }

    @Test
    void equalOnesHaveNoDifference() throws Exception {
        var random = new Random(1);
        for (int length : new int[] {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK}) {
            var octets = new byte[length];
            random.nextBytes(octets);
            OutputMatch match = match(octets, octets.clone());
            assertNull(match.difference());
            assertNull(match.octets());
            assertEquals(match.expected(), match.actual());
            assertEquals(new Content(Hash.sha256(octets), length), match.actual());
        }
    }

    @Test
    void anotherOctetIsFoundAndShownWithWhatIsAroundIt() throws Exception {
        assertDiffers(octets("the answer is 42\n"), octets("the answer is 43\n"), 15, How.OTHER);
        assertDiffers(octets("a"), octets("b"), 0, How.OTHER);
    }

    @Test
    void oneThatEndsEarlierIsShorterAndOneThatGoesOnIsLonger() throws Exception {
        assertDiffers(octets("one\ntwo\n"), octets("one\n"), 4, How.SHORTER);
        assertDiffers(octets("one\n"), octets("one\ntwo\n"), 4, How.LONGER);
        assertDiffers(octets("one\n"), new byte[0], 0, How.SHORTER);
        assertDiffers(new byte[0], octets("one\n"), 0, How.LONGER);
    }

    /// At and around the edges of the buffer.
    @Test
    void whereverTheyDifferTheOctetIsTheFirst() throws Exception {
        var random = new Random(2);
        for (int at : new int[] {0, 1, 39, 40, 41, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 39, 2 * CHUNK - 1, 2 * CHUNK}) {
            var recorded = new byte[2 * CHUNK + 1 + random.nextInt(300)];
            random.nextBytes(recorded);
            byte[] replayed = recorded.clone();
            replayed[at] ^= 0x10;
            replayed[replayed.length - 1] ^= 0x20;
            assertDiffers(recorded, replayed, at, How.OTHER);
            assertDiffers(recorded, Arrays.copyOf(recorded, at), at, How.SHORTER);
            assertDiffers(Arrays.copyOf(recorded, at), recorded, at, How.LONGER);
        }
    }

    /// How the octets come does not matter: a read may give fewer than were asked for.
    @Test
    void inWhichPiecesTheyComeDoesNotCount() throws Exception {
        var octets = new byte[CHUNK + 1_000];
        new Random(3).nextBytes(octets);
        InputStream slow = new ByteArrayInputStream(octets) {
            @Override
            public int read(byte[] into, int offset, int length) {
                return super.read(into, offset, Math.min(length, 777));
            }
        };
        OutputMatch match = OutputMatch.of(PrintedStream.STDERR, slow, new ByteArrayInputStream(octets));
        assertNull(match.difference());
        assertNotNull(match.expected());
        assertEquals(PrintedStream.STDERR, match.stream());
    }

    /// Times of other lengths put what follows at other places.
    @Test
    void aTimeStandsForAnotherIfWhenEachWasPrintedIsKnown() throws Exception {
        var window = new Window(0, 999_999_999);
        var origins = new Origins(_ -> window, _ -> window);
        OutputMatch equal = match("at 00:00:00.1: one", "at 00:00:00.123456: one", origins);
        assertNull(equal.difference());
        assertEquals(
                List.of(new Tie(3, "00:00:00.1", 3, "00:00:00.123456")),
                equal.times().first());
        assertEquals(new Content(Hash.sha256(octets("at 00:00:00.123456: one")), 23), equal.actual());
        OutputMatch other = match("at 00:00:00.1: one", "at 00:00:00.123456: two", origins);
        OutputDifference difference = Objects.requireNonNull(other.difference());
        assertEquals(15, difference.octet());
        assertEquals(20, difference.replayedOctet());
        assertEquals(How.OTHER, difference.how());
        OutputMatch shorter = match("at 00:00:00.1: one", "at 00:00:00.123456", origins);
        assertEquals(How.SHORTER, Objects.requireNonNull(shorter.difference()).how());
        assertEquals(18, shorter.difference().replayedOctet());
        OutputMatch longer = match("at 00:00:00.1", "at 00:00:00.123456: one", origins);
        assertEquals(How.LONGER, Objects.requireNonNull(longer.difference()).how());
        OutputMatch unknown = match("at 00:00:00.1", "at 00:00:00.123456", null);
        assertEquals(13, Objects.requireNonNull(unknown.difference()).octet());
    }

    private static OutputMatch match(String recorded, String replayed, @Nullable Origins origins) throws IOException {
        return OutputMatch.of(
                PrintedStream.STDOUT,
                new ByteArrayInputStream(octets(recorded)),
                new ByteArrayInputStream(octets(replayed)),
                origins);
    }

    @Test
    void aDifferenceThatCannotBeIsRefused() {
        var four = new Content(Hash.sha256(octets("four")), 4);
        var nine = new Content(Hash.sha256(octets("nine-nine")), 9);
        assertEquals(How.LONGER, new OutputDifference(PrintedStream.STDOUT, 4, four, nine).how());
        assertThrows(IllegalArgumentException.class, () -> new OutputDifference(PrintedStream.STDOUT, 5, four, nine));
        assertThrows(IllegalArgumentException.class, () -> new OutputDifference(PrintedStream.STDOUT, 4, four, four));
        assertThrows(IllegalArgumentException.class, () -> new OutputDifference(PrintedStream.STDOUT, -1, four, nine));
        assertEquals(How.SHORTER, new OutputDifference(PrintedStream.STDOUT, 5, 4, nine, four).how());
        assertThrows(
                IllegalArgumentException.class, () -> new OutputDifference(PrintedStream.STDOUT, 9, 4, nine, four));
        assertThrows(
                IllegalArgumentException.class, () -> new OutputDifference(PrintedStream.STDOUT, 3, 5, nine, four));
    }
}
