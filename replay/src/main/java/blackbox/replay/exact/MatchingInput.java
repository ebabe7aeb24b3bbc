package blackbox.replay.exact;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
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
        for (int i = 0; i < count && fault == null; i++) {
            int expected = recorded.read();
            int actual = octets[offset + i] & 0xff;
            if (expected == actual) {
                bytes++;
            } else {
                fault = StreamMatch.difference(name, bytes, expected, actual);
            }
        }
        return count;
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
