package blackbox.vm;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// The first octets of a stream, and nothing after them.
public final class BoundedInput extends FilterInputStream {
    private long left;

    /// The first `bytes` of `in`, or all of it if it is shorter.
    public BoundedInput(InputStream in, long bytes) {
        super(in);
        this.left = bytes;
    }

    @Override
    public int read() throws IOException {
        int octet = left > 0 ? super.read() : -1;
        left -= octet >= 0 ? 1 : 0;
        return octet;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
        if (left <= 0) {
            return -1;
        }
        int n = super.read(buffer, offset, (int) Math.min(length, left));
        left -= Math.max(n, 0);
        return n;
    }

    @Override
    public long skip(long n) throws IOException {
        long skipped = super.skip(Math.min(n, left));
        left -= skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        return (int) Math.min(super.available(), left);
    }

    @Override
    public boolean markSupported() {
        return false;
    }
}
