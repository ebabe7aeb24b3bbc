package blackbox.replay.cassette;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;

/// The octets that one side of a connection sent, in order. They stay in the capture; this holds their offsets.
final class RecordedStream implements HttpReader.Source {
    private final CapturedFrames capture;
    private long[] starts = new long[4];
    private long[] offsets = new long[4];
    private long[] frames = new long[4];
    private int parts;
    private long length;

    RecordedStream(CapturedFrames capture) {
        this.capture = capture;
    }

    /// Adds the next octets: `count` of them, at `offset` in the capture.
    ///
    /// @param frame number of the frame, of both directions, that made them the next ones
    void append(long offset, int count, long frame) {
        if (parts == starts.length) {
            starts = Arrays.copyOf(starts, 2 * parts);
            offsets = Arrays.copyOf(offsets, 2 * parts);
            frames = Arrays.copyOf(frames, 2 * parts);
        }
        starts[parts] = length;
        offsets[parts] = offset;
        frames[parts] = frame;
        parts++;
        length += count;
    }

    @Override
    public long length() {
        return length;
    }

    /// All of it.
    StreamSlice whole() {
        return new StreamSlice(this, 0, length);
    }

    /// Number of the frame that brought the octet at `at`, among those of both directions.
    long frameOf(long at) {
        return frames[partOf(at)];
    }

    /// Where the segment begins that brought the octet at `at`.
    long segmentOf(long at) {
        return starts[partOf(at)];
    }

    @Override
    public byte[] read(long at, int max) {
        int part = partOf(at);
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

    private int partOf(long at) {
        int found = Arrays.binarySearch(starts, 0, parts, at);
        return found >= 0 ? found : -found - 2;
    }
}
