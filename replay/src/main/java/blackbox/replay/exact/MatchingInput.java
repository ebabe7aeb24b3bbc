package blackbox.replay.exact;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A stream of a replay that is compared with the recorded one while it is read.
final class MatchingInput extends FilterInputStream {
    private final String name;
    private final InputStream recorded;
    private long bytes;
    private @Nullable String fault;

    MatchingInput(String name, InputStream recorded, InputStream replayed) {
        super(replayed);
        this.name = name;
        this.recorded = recorded;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] octets, int offset, int length) throws IOException {
        int count = super.read(octets, offset, length);
        if (count > 0 && fault == null) {
            compare(octets, offset, count);
        }
        return count;
    }

    /// At once: each read of a recorded stream may decrypt.
    private void compare(byte[] octets, int offset, int count) throws IOException {
        byte[] expected = recorded.readNBytes(count);
        int same = Arrays.mismatch(octets, offset, offset + count, expected, 0, expected.length);
        bytes += same < 0 ? count : same;
        if (same >= 0) {
            int due = same < expected.length ? expected[same] & 0xff : -1;
            fault = StreamMatch.difference(name, bytes, due, octets[offset + same] & 0xff);
        }
    }

    @Override
    public long skip(long count) throws IOException {
        return readNBytes((int) Math.min(count, 1 << 16)).length;
    }

    /// The result, once everything has been read.
    StreamMatch finish() throws IOException {
        if (fault == null && recorded.read() >= 0) {
            fault = StreamMatch.difference(name, bytes, 0, -1);
        }
        return new StreamMatch(name, bytes, fault);
    }
}
