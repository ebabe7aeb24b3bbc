package blackbox.replay.exact;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// Whether two streams of octets are the same.
///
/// @param name what they are
/// @param bytes how many octets agree, counted from the first
/// @param fault how they differ, in words; null if they do not
record StreamMatch(String name, long bytes, @Nullable String fault) {
    private static final int BUFFER_BYTES = 1 << 16;

    /// Reads both to their ends, even after a difference, so that their writers never have to wait.
    static StreamMatch of(String name, InputStream recorded, InputStream replayed) throws IOException {
        var expected = new BufferedInputStream(recorded, BUFFER_BYTES);
        var actual = new BufferedInputStream(replayed, BUFFER_BYTES);
        long bytes = 0;
        while (true) {
            int a = expected.read();
            int b = actual.read();
            if (a != b) {
                drain(expected);
                drain(actual);
                return new StreamMatch(name, bytes, difference(name, bytes, a, b));
            }
            if (a < 0) {
                return new StreamMatch(name, bytes, null);
            }
            bytes++;
        }
    }

    static String difference(String name, long at, int recorded, int replayed) {
        if (recorded < 0) {
            return name + ": the replay has more than the " + at + " octets of the recording";
        }
        if (replayed < 0) {
            return name + ": the replay ends after " + at + " octets, the recording continues";
        }
        return name + ": octet " + at + " is 0x" + Integer.toHexString(replayed) + " in the replay and 0x"
                + Integer.toHexString(recorded) + " in the recording";
    }

    private static void drain(InputStream in) throws IOException {
        in.transferTo(java.io.OutputStream.nullOutputStream());
    }
}
