package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MatchingInputTest {

    private static InputStream of(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static StreamMatch match(String recorded, String replayed, int piece) throws IOException {
        try (var input = new MatchingInput("frames-in", of(recorded), of(replayed))) {
            var all = new byte[replayed.length()];
            int filled = 0;
            var octets = new byte[piece];
            for (int count = input.read(octets); count >= 0; count = input.read(octets)) {
                System.arraycopy(octets, 0, all, filled, count);
                filled += count;
            }
            assertArrayEquals(replayed.getBytes(StandardCharsets.US_ASCII), all, "what is read is the replay's");
            return input.finish();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "abcdefgh, abcdefgh, 8, -1, -1",
        "abcdefgh, abcdeXgh, 5, 102, 88",
        "abcdefgh, Xbcdefgh, 0, 97, 88",
        "abcdef, abcdefgh, 6, -1, 103",
        "abcdefgh, abcdef, 6, 103, -1",
        "'', '', 0, -1, -1",
        "'', a, 0, -1, 97",
    })
    void theFirstOctetThatDiffersIsNamed(String recorded, String replayed, long agree, int due, int actual)
            throws IOException {
        for (int piece : new int[] {1, 3, 8, 64}) {
            StreamMatch match = match(recorded, replayed, piece);
            String fault = due < 0 && actual < 0
                    ? null
                    : StreamMatch.difference("frames-in", agree, actual < 0 ? 0 : due, actual);
            assertEquals(new StreamMatch("frames-in", agree, fault), match, "in pieces of " + piece);
        }
    }

    /// A recorded stream is encrypted: what is read of it octet by octet takes minutes.
    @Test
    void theRecordedStreamIsReadInPieces() throws IOException {
        var octets = new byte[1 << 20];
        var counted = new FilterInputStream(new ByteArrayInputStream(octets)) {
            private int reads;

            @Override
            public int read() throws IOException {
                reads++;
                return super.read();
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                reads++;
                return super.read(into, from, length);
            }
        };
        try (var input = new MatchingInput("frames-in", counted, new ByteArrayInputStream(octets))) {
            var piece = new byte[8 << 10];
            while (input.read(piece) >= 0) {}
            assertEquals(octets.length, input.finish().bytes());
        }
        assertTrue(counted.reads < 1_000, "reads: " + counted.reads);
    }
}
