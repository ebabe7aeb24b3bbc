package blackbox.replay.capture;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// The first octets of a stream.
final class PrefixInput extends FilterInputStream {
    private long left;

    PrefixInput(InputStream in, long length) {
        super(in);
        this.left = length;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
        if (left <= 0) {
            return -1;
        }
        int n = super.read(into, at, (int) Math.min(length, left));
        left -= Math.max(0, n);
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
