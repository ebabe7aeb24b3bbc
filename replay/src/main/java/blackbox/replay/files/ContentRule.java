package blackbox.replay.files;

import blackbox.replay.fs.SparseInput;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// When the contents of two files count as the same.
@FunctionalInterface
public interface ContentRule {
    /// Only octet for octet. Holes that both have are not read.
    ContentRule STRICT = (_, recorded, actual) -> {
        Long octet = mismatch(recorded, actual);
        return octet == null ? null : new Found(octet, "", "");
    };

    /// Where two contents differ.
    ///
    /// @param octet the first one that does, in the recorded file
    /// @param expected what else there is to say of the recorded one, in words; may be empty
    /// @param actual the same of the replay's
    record Found(long octet, String expected, String actual) {}

    /// Where the contents first differ, or null if they count as the same.
    ///
    /// @param paths where they are
    /// @param recorded the whole content, at its start; the caller closes it
    /// @param actual the same of the replay
    @Nullable
    Found difference(FilesMatch.Pair paths, InputStream recorded, InputStream actual) throws IOException;

    private static @Nullable Long mismatch(InputStream recorded, InputStream actual) throws IOException {
        var expected = new byte[1 << 16];
        var found = new byte[1 << 16];
        long at = 0;
        while (true) {
            at += skipHoles(recorded, actual);
            int n = recorded.readNBytes(expected, 0, expected.length);
            int m = actual.readNBytes(found, 0, found.length);
            int differs = Arrays.mismatch(expected, 0, n, found, 0, m);
            if (differs >= 0) {
                return at + differs;
            }
            if (n == 0) {
                return null;
            }
            at += n;
        }
    }

    private static long skipHoles(InputStream recorded, InputStream actual) throws IOException {
        if (recorded instanceof SparseInput one && actual instanceof SparseInput other) {
            long zeros = Math.min(one.zerosAhead(), other.zerosAhead());
            one.skipNBytes(zeros);
            other.skipNBytes(zeros);
            return zeros;
        }
        return 0;
    }
}
