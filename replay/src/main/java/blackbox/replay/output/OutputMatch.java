package blackbox.replay.output;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.content.ContentDifference;
import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Ties;
import blackbox.replay.request.Difference;
import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// How what a replay printed on a stream compares with the recording, octet for octet: in which pieces it was
/// printed, and when, does not count.
///
/// @param expected all that is recorded of it
/// @param actual all that the replay printed on it
/// @param found where they first differ; null if they do not
/// @param times which times stood for another before that
/// @param names which made-up names did
/// @param processes which numbers of processes did
/// @param durations which durations did
public record OutputMatch(
        PrintedStream stream,
        Content expected,
        Content actual,
        @Nullable ContentDifference found,
        Ties times,
        Ties names,
        Ties processes,
        Ties durations) {

    /// Compares two streams, both to their ends; no time stands for another. Memory does not depend on how long
    /// they are.
    public static OutputMatch of(PrintedStream stream, InputStream recorded, InputStream replayed) throws IOException {
        return of(stream, recorded, replayed, null);
    }

    /// The same, but a time that was printed may stand for another one ([ContentMatch]).
    ///
    /// @param origins when each side's octets were printed; null if that is not known
    public static OutputMatch of(
            PrintedStream stream, InputStream recorded, InputStream replayed, @Nullable Origins origins)
            throws IOException {
        var expected = new Digested(recorded);
        var actual = new Digested(replayed);
        ContentMatch match = ContentMatch.of(expected, actual, origins);
        return new OutputMatch(
                stream,
                expected.finish(),
                actual.finish(),
                match.difference(),
                match.times(),
                match.names(),
                match.processes(),
                match.durations());
    }

    /// The same where of the replay only the beginning was compared: it differs from all that is recorded, or the
    /// recording is its beginning.
    ///
    /// @param all of the replay
    public OutputMatch with(Content all) {
        if (all.bytes() < actual.bytes()) {
            throw new IllegalArgumentException(all.bytes() + " octets are not all of a stream of " + actual.bytes());
        }
        return new OutputMatch(stream, expected, all, found, times, names, processes, durations);
    }

    /// The octets of either where they first differ, which may be secret; null if they do not.
    public @Nullable Difference octets() {
        return found == null ? null : found.octets();
    }

    /// Where they differ, or null if they do not.
    public @Nullable OutputDifference difference() {
        return found == null ? null : new OutputDifference(stream, found.recorded(), found.actual(), expected, actual);
    }

    /// Counts what is read of a stream, and digests it.
    private static final class Digested extends InputStream {
        private final InputStream in;
        private final MessageDigest digest = Sha256.digest();
        private long bytes;

        Digested(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int count = in.read(into, offset, length);
            if (count > 0) {
                digest.update(into, offset, count);
                bytes += count;
            }
            return count;
        }

        /// Reads the rest.
        Content finish() throws IOException {
            transferTo(OutputStream.nullOutputStream());
            return new Content(Hash.copyOf(digest.digest(), 0), bytes);
        }
    }
}
