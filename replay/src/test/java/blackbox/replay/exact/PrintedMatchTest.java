package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.output.OutputDifference;
import blackbox.replay.output.OutputMatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What was printed is taken out of the frames in which a guest sends it.
class PrintedMatchTest {

    @TempDir
    Path scratch;

    /// As the guest sends it: `o` or `e` for the stream, then text.
    private static byte[] frames(String... written) throws IOException {
        var frames = new ByteArrayOutputStream();
        for (String each : written) {
            byte[] octets = each.substring(1).getBytes(StandardCharsets.UTF_8);
            byte stream = (byte) (each.charAt(0) == 'o' ? 1 : 2);
            frames.write(ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(stream)
                    .putInt(4, octets.length)
                    .array());
            frames.write(octets);
        }
        return frames.toByteArray();
    }

    private @Nullable OutputMatch first(byte[] recorded, byte[] replayed) throws IOException {
        return PrintedMatch.first(new ByteArrayInputStream(recorded), new ByteArrayInputStream(replayed), scratch);
    }

    @Test
    void theStreamThatDiffersIsNamed() throws Exception {
        byte[] recorded = frames("oone\n", "ewarning\n", "otwo\n", "o", "e");
        OutputMatch error = Objects.requireNonNull(first(recorded, frames("oone\ntwo\n", "ewarming\n", "o", "e")));
        OutputDifference difference = Objects.requireNonNull(error.difference());
        assertEquals(PrintedStream.STDERR, difference.stream());
        assertEquals(3, difference.octet());
        assertEquals("warning\n", Objects.requireNonNull(error.octets()).recorded());
    }

    @Test
    void otherFramesWithTheSameOctetsAreNoDifference() throws Exception {
        assertNull(first(frames("oone\n", "otwo\n", "o", "e"), frames("oone\ntwo\n", "e", "o")));
    }

    /// A hostile guest may send anything.
    @Test
    void whatPrecedesMalformedFramesCounts() throws Exception {
        byte[] malformed = frames("oone\n", "otwo\n");
        malformed[8 + 4] = 9; // the stream of the second frame
        OutputMatch match = Objects.requireNonNull(first(frames("oone\n", "otwo\n", "o", "e"), malformed));
        assertEquals(4, Objects.requireNonNull(match.difference()).octet());
    }
}
