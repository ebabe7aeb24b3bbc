package blackbox.replay.cassette;

import java.security.MessageDigest;
import java.util.Arrays;

/// Some octets of a [RecordedStream], counted from 0. Immutable, but for a whole stream that is still being filled.
///
/// @param from the first octet's place in the stream
/// @param length how many
record StreamSlice(RecordedStream stream, long from, long length) {
    private static final int CHUNK_BYTES = 16 << 10;

    /// At least one and at most `max` octets from `at` on, which is before the end.
    byte[] read(long at, int max) {
        return stream.read(from + at, (int) Math.min(max, length - at));
    }

    /// The first place in `octets`, which are at `at` elsewhere, that differs from this; their length when none does.
    /// What is beyond this one's end differs.
    int mismatch(long at, byte[] octets) {
        int same = 0;
        while (same < octets.length && at + same < length) {
            byte[] mine = read(at + same, octets.length - same);
            int differs = Arrays.mismatch(mine, 0, mine.length, octets, same, same + mine.length);
            if (differs >= 0) {
                return same + differs;
            }
            same += mine.length;
        }
        return same;
    }

    /// Whether the first `count` octets are those of `other`.
    boolean sharesStart(StreamSlice other, long count) {
        if (count > length || count > other.length) {
            return false;
        }
        for (long at = 0; at < count; ) {
            byte[] octets = other.read(at, (int) Math.min(CHUNK_BYTES, count - at));
            if (mismatch(at, octets) < octets.length) {
                return false;
            }
            at += octets.length;
        }
        return true;
    }

    /// The first `count` octets; less than 2 GiB.
    byte[] first(long count) {
        return copy(0, count);
    }

    /// Those from `at` on; less than 2 GiB.
    byte[] rest(long at) {
        return copy(at, length);
    }

    private byte[] copy(long begin, long end) {
        var octets = new byte[Math.toIntExact(end - begin)];
        for (int at = 0; at < octets.length; ) {
            byte[] next = read(begin + at, octets.length - at);
            System.arraycopy(next, 0, octets, at, next.length);
            at += next.length;
        }
        return octets;
    }

    /// Adds all octets to `digest`.
    void digest(MessageDigest digest) {
        for (long at = 0; at < length; ) {
            byte[] octets = read(at, CHUNK_BYTES);
            digest.update(octets);
            at += octets.length;
        }
    }
}
