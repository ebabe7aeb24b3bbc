package blackbox.replay.output;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Difference;
import blackbox.replay.cassette.Miss.Content;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// How what a replay printed on a stream compares with the recording, octet for octet: in which pieces it was
/// printed, and when, does not count.
///
/// @param expected all that is recorded of it
/// @param actual all that the replay printed on it
/// @param octets the octets of either where they first differ, which may be secret; null if they are equal
public record OutputMatch(
        PrintedStream stream,
        Content expected,
        Content actual,
        @Nullable Difference octets) {

    private static final int CHUNK_BYTES = 1 << 16;

    /// Compares two streams, both to their ends. Memory does not depend on their lengths.
    public static OutputMatch of(PrintedStream stream, InputStream recorded, InputStream replayed) throws IOException {
        var expected = new Side(recorded);
        var actual = new Side(replayed);
        Difference found;
        do {
            expected.advance();
            actual.advance();
            found = difference(expected, actual);
        } while (found == null && expected.chunk.length > 0);
        return new OutputMatch(stream, expected.finish(), actual.finish(), found);
    }

    /// Where two chunks at the same place differ, or null.
    private static @Nullable Difference difference(Side expected, Side actual) throws IOException {
        int at = Arrays.mismatch(expected.chunk, actual.chunk);
        if (at < 0) {
            return null;
        }
        long octet = expected.start + at;
        int before = (int) Math.min(Difference.BEFORE_MAX, octet);
        return new Difference(octet, octet - before, expected.around(at, before), actual.around(at, before));
    }

    /// Where they differ, or null if they are equal.
    public @Nullable OutputDifference difference() {
        return octets == null ? null : new OutputDifference(stream, octets.at(), expected, actual);
    }

    /// One of the streams. All that is read of it is counted and goes into its digest.
    private static final class Side {
        private final InputStream in;
        private final MessageDigest digest = Sha256.digest();
        private byte[] last = new byte[0];
        private byte[] chunk = new byte[0];
        /// Of the chunk's first octet.
        private long start;

        Side(InputStream in) {
            this.in = in;
        }

        /// Reads the next chunk, which is shorter than the others only at the end, and then empty.
        void advance() throws IOException {
            start += chunk.length;
            last = chunk;
            chunk = read();
        }

        private byte[] read() throws IOException {
            byte[] octets = in.readNBytes(CHUNK_BYTES);
            digest.update(octets);
            return octets;
        }

        /// The octets around one of the chunk.
        ///
        /// @param before how many of those before it
        String around(int at, int before) throws IOException {
            byte[] more = read();
            byte[] all = Arrays.copyOf(last, last.length + chunk.length + more.length);
            System.arraycopy(chunk, 0, all, last.length, chunk.length);
            System.arraycopy(more, 0, all, last.length + chunk.length, more.length);
            start += chunk.length;
            chunk = more;
            int from = last.length + at - before;
            int to = Math.min(all.length, from + Difference.SHOWN_MAX);
            return new String(all, from, to - from, StandardCharsets.ISO_8859_1);
        }

        Content finish() throws IOException {
            while (chunk.length > 0) {
                start += chunk.length;
                chunk = read();
            }
            return new Content(Hash.copyOf(digest.digest(), 0), start);
        }
    }
}
