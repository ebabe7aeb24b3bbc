package blackbox.replay.cassette;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.Arrays;

/// The octets that one side of a connection sent, in order. They stay in the capture; this holds their offsets.
final class RecordedStream {
    private static final int CHUNK_BYTES = 16 << 10;

    private final CapturedFrames capture;
    private long[] starts = new long[4];
    private long[] offsets = new long[4];
    private int parts;
    private long length;

    RecordedStream(CapturedFrames capture) {
        this.capture = capture;
    }

    /// Adds the next octets: `count` of them, at `offset` in the capture.
    void append(long offset, int count) {
        if (parts == starts.length) {
            starts = Arrays.copyOf(starts, 2 * parts);
            offsets = Arrays.copyOf(offsets, 2 * parts);
        }
        starts[parts] = length;
        offsets[parts] = offset;
        parts++;
        length += count;
    }

    long length() {
        return length;
    }

    /// At least one and at most `max` octets from `at` on, which is before the end.
    byte[] read(long at, int max) {
        int found = Arrays.binarySearch(starts, 0, parts, at);
        int part = found >= 0 ? found : -found - 2;
        long end = part + 1 < parts ? starts[part + 1] : length;
        int count = (int) Math.min(max, end - at);
        if (at < 0 || count <= 0) {
            throw new IndexOutOfBoundsException("octet " + at + " of " + length);
        }
        try {
            return capture.read(offsets[part] + at - starts[part], count);
        } catch (IOException e) {
            throw new UncheckedIOException("the captured frames can no longer be read", e);
        }
    }

    /// The first place in `octets`, which are at `at` in another stream, that differs from this stream; their
    /// length when none does. What is beyond this stream's end differs.
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
    boolean sharesStart(RecordedStream other, long count) {
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

    /// Adds all octets to `digest`.
    void digest(MessageDigest digest) {
        for (long at = 0; at < length; ) {
            byte[] octets = read(at, CHUNK_BYTES);
            digest.update(octets);
            at += octets.length;
        }
    }
}
