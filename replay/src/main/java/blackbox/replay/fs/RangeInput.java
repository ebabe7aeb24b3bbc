package blackbox.replay.fs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A file's octets, assembled from their places in an image. What no range covers reads as zeros.
final class RangeInput extends SparseInput {

    /// A range of a file that is contiguous in the image.
    ///
    /// @param at where it begins in the file
    /// @param imageAt where it begins in the image
    record Range(long at, long length, long imageAt) {}

    private final ImageFile image;
    private final Iterator<Range> ranges;
    private final long length;
    private @Nullable Range range;
    private long at;

    /// @param ranges by their position in the file, without overlaps
    RangeInput(ImageFile image, List<Range> ranges, long length) {
        this.image = image;
        this.ranges = ranges.iterator();
        this.length = length;
        this.range = this.ranges.hasNext() ? this.ranges.next() : null;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
        Objects.checkFromIndexSize(offset, count, into.length);
        if (count == 0) {
            return 0;
        }
        if (at >= length) {
            return -1;
        }
        Range current = here();
        long left = Math.min(count, length - at);
        if (current == null || current.at() > at) {
            int zeros = (int) (current == null ? left : Math.min(left, current.at() - at));
            Arrays.fill(into, offset, offset + zeros, (byte) 0);
            at += zeros;
            return zeros;
        }
        int n = (int) Math.min(left, current.at() + current.length() - at);
        image.read(current.imageAt() + at - current.at(), ByteBuffer.wrap(into, offset, n));
        at += n;
        return n;
    }

    /// The range that has the next octet or that comes after it, or null.
    private @Nullable Range here() {
        while (range != null && range.at() + range.length() <= at) {
            range = ranges.hasNext() ? ranges.next() : null;
        }
        return range;
    }

    @Override
    public long zerosAhead() {
        Range next = here();
        return Math.max(0, Math.min(length, next == null ? length : next.at()) - at);
    }

    @Override
    public long skip(long count) {
        long skipped = Math.clamp(count, 0, Math.max(0, length - at));
        at += skipped;
        return skipped;
    }
}
