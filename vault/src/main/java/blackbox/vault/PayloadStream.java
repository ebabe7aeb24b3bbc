package blackbox.vault;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/// A payload as a stream. Owned by one thread.
final class PayloadStream extends InputStream {
    private final OpenPayload payload;
    private long at;

    PayloadStream(OpenPayload payload) {
        this.payload = payload;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        int count = payload.read(ByteBuffer.wrap(into, offset, length), at);
        at += Math.max(0, count);
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        long skipped = Math.clamp(payload.size() - at, 0, Math.max(0, count));
        at += skipped;
        return skipped;
    }

    @Override
    public void close() throws IOException {
        payload.close();
    }
}
